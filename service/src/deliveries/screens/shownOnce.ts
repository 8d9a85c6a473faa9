import type { ApiKey } from '../../team/index.ts';
import { eventsOf, type Subscription } from '../subscription.ts';
import { copyable, shownOnce } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { exactTimeView } from '../../platform/html/times.ts';
import { subscriptionHref } from './deliveriesList.ts';

/** A new key, and how to use it in n8n. */
export const newKeyView = (key: string, { name }: ApiKey, baseUrl: string): View =>
  shownOnce(
    'Your new API key',
    `This is the key “${name}”.`,
    key,
    html`
      <p>To use it in n8n:</p>
      <ol>
        <li>Open <strong>Credentials</strong> and create a <strong>Conversation Service API</strong> credential.</li>
        <li>Paste the key as <strong>API Key</strong>.</li>
        <li>
          Enter ${copyable('base-url', baseUrl, 'the base URL')} as <strong>Base URL</strong>, and save.
        </li>
      </ol>
    `,
  );

/** A new subscription's signing secret. */
export const newSubscriptionView = (secret: string, subscription: Subscription): View =>
  shownOnce(
    'Subscription created',
    `This is the signing secret for its deliveries of ${eventsOf(subscription).join(', ')}.`,
    secret,
    html`
      <p>The receiver uses it to verify the <code>X-Service-Signature</code> header.</p>
      <p>
        <a href=${subscriptionHref(subscription.id)}>Open the subscription</a> to send a test event.
      </p>
    `,
  );

/** The secret after a rotation. @param overlapEndsAt when the previous secret expires, ISO 8601 */
export const rotatedSecretView = (secret: string, overlapEndsAt: string): View =>
  shownOnce(
    'Your new signing secret',
    'Deliveries are signed with it from now on.',
    secret,
    html`
      <p>The previous secret stays valid until <strong>${exactTimeView(overlapEndsAt)}</strong>. Update the receiver by then:</p>
      <ul>
        <li>An n8n workflow: unpublish it and publish it again. It gets the new secret by itself, and no events are lost.</li>
        <li>Any other receiver: replace its secret with this one.</li>
      </ul>
    `,
  );
