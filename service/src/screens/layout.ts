import type { SignedIn } from '../domain/operations/findSession.ts';
import { assetUrl } from './assets.ts';
import { html, type View } from './html.ts';

/** htmx without what a strict CSP forbids; an error's page is shown like any other. */
const HTMX_CONFIG = JSON.stringify({
  includeIndicatorStyles: false,
  allowEval: false,
  allowScriptTags: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
  scrollBehavior: 'instant',
  responseHandling: [
    { code: '204', swap: false },
    { code: '401', swap: false, error: true },
    { code: '...', swap: true },
  ],
});

const head = (title: string) => html`
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="htmx-config" content=${HTMX_CONFIG} />
    <title>${title} · Conversation Service</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href=${assetUrl('pico.css')} />
    <link rel="stylesheet" href=${assetUrl('app.css')} />
    <script src=${assetUrl('htmx.js')} defer></script>
    <script src=${assetUrl('htmx-sse.js')} defer></script>
    <script src=${assetUrl('app.js')} defer></script>
  </head>
`;

/** A page for somebody who is not signed in: a form, a notice. */
export const plainPage = (title: string, content: View): View => html`
  <html lang="en">
    ${head(title)}
    <body class="plain">
      <main class="container narrow">${content}</main>
    </body>
  </html>
`;

export const SECTIONS = [
  { id: 'conversations', href: '/conversations', label: 'Conversations' },
  { id: 'tools', href: '/tools', label: 'Tools' },
  { id: 'agent', href: '/agent', label: 'Agent' },
  { id: 'channels', href: '/channels', label: 'Channels' },
  { id: 'payments', href: '/payments', label: 'Payments' },
  { id: 'keys', href: '/keys', label: 'API keys' },
  { id: 'team', href: '/team', label: 'Team' },
] as const;
export type Section = (typeof SECTIONS)[number]['id'] | 'account';

/**
 * What was done, said once on the next page: a code in its address, so that no text of a stranger
 * is shown.
 */
export const NOTICES: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  closed: 'The conversation is closed.',
  'closed-meanwhile': 'The conversation was closed meanwhile, so nothing was changed.',
  'decided-meanwhile':
    'This was decided or had ended already: the card below says how. Your decision was not used.',
  'reason-missing': 'Say why you reject it, in at most 1,000 characters.',
  removed: 'Removed.',
  revoked: 'The key is revoked: it works no more.',
  unsubscribed: 'The subscription is removed: nothing more is sent there.',
  'secrets-revoked': 'Only the newest secret signs from now on.',
  'test-event': 'A test event is on its way; see below what comes of it.',
  'sent-again': 'The delivery is on its way again; see it under all deliveries.',
  'tool-created': 'The tool is created. Run a test call; then it can go live.',
  'tool-draft':
    'Saved. It is called differently now, so it is a draft: run a test call before it goes live.',
  'tool-live': 'The tool is live: the agent can call it.',
  'tool-paused': 'The tool is paused: the agent calls it no more.',
  'tool-removed': 'The tool is removed.',
  'agent-on': 'The agent is on: it answers what customers write from now on.',
  'agent-off': 'The agent is off: only workflows and people answer.',
  'channel-connected':
    'The account is connected here. Test the connection, then set the channel up to deliver to this service.',
  'channel-tested': 'The connection works.',
  'channel-test-failed': 'The test failed; see below why.',
  'channel-disconnected': 'The account is disconnected.',
  'payment-made': 'The payment link is made. Copy it, or send it to the customer.',
  'payment-sent': 'The payment link is sent to the customer.',
  'payment-preparing':
    'The payment link is being prepared and was not sent yet. Once it is open, send it from its card.',
  'payment-refused':
    'The provider refused to make the payment link: its card says why. Nothing was sent.',
  'payment-not-sent-window':
    'The payment link is kept, but not sent: the channel takes messages only for a time after the customer’s last one. Send it when they have written again.',
  'payment-not-sent-channel':
    'The payment link is kept, but not sent: the channel is not connected any more. Connect it again under Channels, then send it.',
  'payment-not-sent-closed': 'The payment link was not sent: the conversation is closed.',
  'payment-cancelled': 'The payment link is cancelled.',
  'payment-marked': 'Marked as paid.',
  'payment-meanwhile':
    'This payment link was paid or had ended already: it says how. Nothing was changed.',
  'payment-reference-unusable':
    'Not marked as paid: the reference must have at most 200 characters.',
  'provider-removed': 'The payment provider is removed.',
  'provider-test-passed': 'The keys work: the test has passed.',
  'provider-test-failed': 'The test has failed: what is wrong stands below.',
  password: 'Your password is changed, and every other browser is signed out.',
  left: 'You are no member of the team any more.',
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out in every browser.',
};

/** A page of the team. @param notice a code of `NOTICES` */
export const teamPage = (
  signedIn: SignedIn,
  {
    title,
    section,
    notice,
    wide = false,
  }: { title: string; section: Section; notice?: unknown; wide?: boolean },
  content: View,
): View => html`
  <html lang="en">
    ${head(title)}
    <body hx-boost="true" hx-headers=${JSON.stringify({ 'X-CSRF-Token': signedIn.csrfToken })}>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <nav class=${wide ? 'container-fluid' : 'container'} aria-label="Main">
          <a class="brand" href="/conversations">${signedIn.workspace.name}</a>
          <ul>
            ${SECTIONS.map(({ id, href, label }) => html`<li><a href=${href} aria-current=${id === section ? 'page' : null}>${label}</a></li>`)}
          </ul>
          <a class="me" href="/account" aria-current=${section === 'account' ? 'page' : null}>${signedIn.member.name}</a>
        </nav>
      </header>
      <main id="main" class=${wide ? 'container-fluid' : 'container'} tabindex="-1">
        ${noticeOf(notice)}
        ${content}
      </main>
    </body>
  </html>
`;

const noticeOf = (code: unknown) =>
  typeof code === 'string' && Object.hasOwn(NOTICES, code)
    ? html`<p class="notice" role="status">${NOTICES[code]}</p>`
    : null;

/** The hidden field that shows that a form was made here. */
export const csrfField = ({ csrfToken }: SignedIn): View =>
  html`<input type="hidden" name="csrf" value=${csrfToken} />`;
