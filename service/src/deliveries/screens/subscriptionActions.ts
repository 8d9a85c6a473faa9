import type { SignedIn } from '../../team/index.ts';
import { ownerInWords } from '../../platform/owner.ts';
import { REVIVAL_MS, signingSecrets, type Subscription } from '../subscription.ts';
import { postButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { eventsInWords } from './subscriptionState.ts';

/** The buttons of a subscription's page. */
export function subscriptionActions(
  signedIn: SignedIn,
  subscription: Subscription,
  now: Date,
): View {
  const { paused, owner, isReleased } = subscription;
  const hasPreviousSecrets = signingSecrets(subscription, now).length > 1;
  const button = buttonsOf(signedIn, subscription);
  return html`
    <div class="row">
      ${postButton(signedIn, {
        action: actionOf(subscription, 'test'),
        label: 'Send a test event',
      })}
      ${
        paused
          ? button('resume', 'Resume')
          : button(
              'pause',
              'Pause',
              'Pause this subscription? New events are not kept for it. Pending deliveries wait until you resume.',
            )
      }
      ${
        owner && !isReleased
          ? button(
              'release',
              'Let another n8n take over',
              `Let another n8n take this subscription over from ${ownerInWords(owner)}? The first one that publishes a workflow with this URL gets it. Until then, nothing changes.`,
            )
          : null
      }
      ${secretButtons(button, hasPreviousSecrets)}
      ${button('remove', 'Remove', removalInWords(subscription))}
    </div>
  `;
}

type Button = (verb: string, label: string, confirm?: string) => View;

const actionOf = ({ id }: Subscription, verb: string) => `/keys/subscriptions/${id}/${verb}`;

const buttonsOf =
  (signedIn: SignedIn, subscription: Subscription): Button =>
  (verb, label, confirm) =>
    postButton(signedIn, {
      action: actionOf(subscription, verb),
      label,
      confirm,
      button: { class: verb === 'remove' ? 'danger' : 'secondary outline' },
    });

const secretButtons = (button: Button, hasPreviousSecrets: boolean): View => html`
  ${button(
    'rotate-secret',
    'Rotate secret',
    'Create a new signing secret? The current one stays valid for 24 hours. Update the receiver by then.',
  )}
  ${
    hasPreviousSecrets
      ? button(
          'revoke-previous-secrets',
          'Revoke previous secret',
          'Sign with the newest secret only? A receiver that still uses a previous secret will refuse deliveries.',
        )
      : null
  }
`;

const removalInWords = (subscription: Subscription): string =>
  `Remove the subscription of ${eventsInWords(subscription)} to ${subscription.targetUrl}? It gets no more events, and its deliveries are no longer listed. If you create the same subscription again within ${REVIVAL_MS / 1000} seconds, its pending deliveries are sent.`;
