import type { ApiKey } from '../../domain/apiKey.ts';
import type { Subscription } from '../../domain/subscription.ts';
import { html, type View } from '../html.ts';

/** A secret in the one answer that shows it; app.js takes it off a page that is left. */
const shownOnce = ({
  title,
  label,
  value,
  children,
}: {
  title: string;
  label: string;
  value: string;
  children: View;
}): View => html`
  <article class="keys-once" data-shown-once aria-labelledby="once-title">
    <h2 id="once-title">${title}</h2>
    <p>${label} It is shown this once; copy it now.</p>
    <p class="copy"><code id="once">${value}</code> <button class="small" type="button" data-copy="#once">Copy</button></p>
    ${children}
  </article>
`;

/** A new key, and where it goes. @param baseUrl the service's address for the credential */
export const newKeyView = (key: string, { name }: ApiKey, baseUrl: string): View =>
  shownOnce({
    title: 'Your new API key',
    label: `This is the key “${name}”.`,
    value: key,
    children: html`
      <p>Where to put it in n8n:</p>
      <ol>
        <li>Open <strong>Credentials</strong>, create one, and choose <strong>Conversation Service API</strong>.</li>
        <li>Paste this key as <strong>API Key</strong>.</li>
        <li>Enter <code id="base-url">${baseUrl}</code>${' '}<button class="small outline" type="button" data-copy="#base-url" aria-label="Copy the base URL">Copy</button> as <strong>Base URL</strong>, and save.</li>
      </ol>
    `,
  });

/** A new subscription's signing secret. */
export const newSubscriptionView = (secret: string, { id, event }: Subscription): View =>
  shownOnce({
    title: 'The subscription is made',
    label: `This is the signing secret of its ${event} deliveries.`,
    value: secret,
    children: html`
      <p>Give it to the receiver, which checks the header <code>X-Service-Signature</code> with it.</p>
      <p><a href=${`/keys/subscriptions/${id}`}>Open the subscription</a> to send it a test event.</p>
    `,
  });

/**
 * The secret after a rotation. @param overlapEndsAt in words: when the replaced one stops signing
 */
export const rotatedSecretView = (secret: string, overlapEndsAt: string): View =>
  shownOnce({
    title: 'The new signing secret',
    label: 'Deliveries are signed with it from now on.',
    value: secret,
    children: html`
      <p>What to do within 24 hours: the replaced secret signs too until <strong>${overlapEndsAt}</strong>, so nothing is lost until then.</p>
      <ul>
        <li>An n8n workflow: publish it again (unpublish, then publish); it learns the new secret by itself, and nothing is lost meanwhile.</li>
        <li>Another receiver: give it this secret in place of the old one.</li>
      </ul>
    `,
  });
