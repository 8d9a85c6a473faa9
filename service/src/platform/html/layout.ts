import { assetUrl } from './assets.ts';
import { html, type View } from './html.ts';
import { liveArea } from './liveSection.ts';
import { noticeView } from './notices.ts';
import type { Viewer } from './viewer.ts';

/** htmx without what a strict CSP forbids. Error pages are shown like any other page. */
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

/** A page for someone who is not signed in. */
export const plainPage = (title: string, content: View): View => html`
  <html lang="en">
    ${head(title)}
    <body class="plain">
      <main class="container narrow">${content}</main>
    </body>
  </html>
`;

export const SECTIONS = [
  { id: 'overview', href: '/overview', label: 'Overview' },
  { id: 'conversations', href: '/conversations', label: 'Conversations' },
  { id: 'waiting', href: '/waiting', label: 'Waiting' },
  { id: 'tools', href: '/tools', label: 'Tools' },
  { id: 'agent', href: '/agent', label: 'Agent' },
  { id: 'channels', href: '/channels', label: 'Channels' },
  { id: 'payments', href: '/payments', label: 'Payments' },
  { id: 'keys', href: '/keys', label: 'API keys' },
  { id: 'team', href: '/team', label: 'Team' },
  { id: 'settings', href: '/settings', label: 'Settings' },
] as const;
export type Section = (typeof SECTIONS)[number]['id'] | 'account';

export interface TeamPage {
  readonly title: string;
  readonly section: Section;
  /** A code of the notices. */
  readonly notice?: unknown;
  /** As wide as the window. */
  readonly wide?: boolean;
  /** Whether the content has a live area. A page has one stream. */
  readonly isLive?: boolean;
}

/** A page for members, with the navigation. */
export const teamPage = (
  viewer: Viewer,
  { title, section, notice, wide = false, isLive = false }: TeamPage,
  content: View,
): View => html`
  <html lang="en">
    ${head(title)}
    <body hx-boost="true" hx-headers=${JSON.stringify({ 'X-CSRF-Token': viewer.csrfToken })}>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <nav class=${wide ? 'container-fluid' : 'container'} aria-label="Main">
          <a class="brand" href="/conversations">${viewer.workspace.name}</a>
          <ul>
            ${SECTIONS.map(({ id, href, label }) => html`<li><a href=${href} aria-current=${id === section ? 'page' : null}>${label}${id === 'waiting' ? waitingCount() : null}</a></li>`)}
          </ul>
          <a class="me" href="/account" aria-current=${section === 'account' ? 'page' : null}>${viewer.member.name}</a>
        </nav>
      </header>
      <main id="main" class=${wide ? 'container-fluid' : 'container'} tabindex="-1">
        ${noticeView(notice)}
        ${content}
      </main>
      ${isLive ? null : liveArea(null)}
    </body>
  </html>
`;

/** How much waits for a decision. It stays in place from page to page. */
const waitingCount = (): View => html`
  <span id="waiting-count" class="count" hx-preserve="true" hx-get="/waiting/count" hx-trigger="htmx:sseOpen from:body, sse:waiting from:body"></span>
`;
