import {
  deliveryBadge,
  deliveryHref,
  resendButton,
  soon,
  subscriptionHref,
} from '../deliveriesList.ts';
import type { DeliveryDetails } from '../../operations/deliveryDetails.ts';
import { SIGNATURE_TOLERANCE_SECONDS } from '../../request.ts';
import { isOwner, type SignedIn } from '../../../team/index.ts';
import { breakable } from '../../../platform/html/breakable.ts';
import { backLink, copyable, copyButton, postButton } from '../../../platform/html/components.ts';
import { formProblem } from '../../../platform/html/forms.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { teamPage } from '../../../platform/html/layout.ts';
import { liveSection } from '../../../platform/html/liveSection.ts';
import { timeView } from '../../../platform/html/times.ts';
import { eventsInWords } from '../subscriptionState.ts';
import { attemptsList } from './attemptsList.ts';

export interface DeliveryPageExtras {
  readonly notice?: unknown;
  readonly problem?: string;
  /** The delivery as a curl command, signed now. Only in the answer to the form that asked for it. */
  readonly curl?: string;
}

interface DeliveryPage extends DeliveryPageExtras {
  readonly details: DeliveryDetails;
  readonly now: Date;
}

/** One delivery: what was sent, where, and what came back. */
export function deliveryPage(
  signedIn: SignedIn,
  { details, now, notice, problem, curl }: DeliveryPage,
): View {
  const { delivery, subscription } = details;
  const href = deliveryHref(delivery);
  return teamPage(
    signedIn,
    { title: `Delivery of ${delivery.event}`, section: 'keys', notice },
    html`
      ${backLink(subscriptionHref(subscription.id), eventsInWords(subscription))}
      <h1>Delivery of ${delivery.event}</h1>
      ${formProblem(problem)}
      ${curl === undefined ? null : curlView(curl)}
      <section class="block" aria-label="State">
        ${liveSection('keys', 'delivery', `${href}/live`, deliveryState(signedIn, details, now))}
      </section>
      <section class="block" aria-labelledby="payload-title">
        <h2 id="payload-title">Payload</h2>
        ${payloadView(signedIn, details)}
      </section>
    `,
  );
}

/** The state of a delivery, and its attempts. */
export const deliveryState = (
  signedIn: SignedIn,
  { delivery, subscription, event }: DeliveryDetails,
  now: Date,
): View => html`
  <dl class="facts-list">
    <dt>State</dt>
    <dd>
      ${deliveryBadge(delivery)}
      ${
        delivery.nextAttemptAt === null
          ? null
          : ` next attempt ${soon(delivery.nextAttemptAt, now)}`
      }
    </dd>
    <dt>Endpoint URL</dt><dd><bdi>${breakable(subscription.targetUrl)}</bdi></dd>
    <dt>Conversation</dt><dd>${conversationView(event?.conversationId)}</dd>
    <dt>Event</dt><dd>${copyable('event-id', delivery.eventId, 'the event id')}</dd>
    <dt>Delivery</dt><dd>${copyable('delivery-id', delivery.id, 'the delivery id')}</dd>
    <dt>Created</dt><dd id=${`made-${delivery.id}`}>${timeView(delivery.createdAt, now)}</dd>
  </dl>
  ${
    delivery.status === 'pending'
      ? null
      : html`<div class="row">${resendButton(signedIn, delivery, { from: 'delivery' })}</div>`
  }
  <h2>Attempts</h2>
  ${attemptsList(delivery, isOwner(signedIn.member) ? 'whole' : 'without-signatures')}
`;

const conversationView = (conversationId: string | null | undefined): View =>
  conversationId
    ? html`<a href=${`/conversations/${conversationId}`}>${conversationId}</a>`
    : conversationId === null
      ? 'none: this is a test event'
      : 'no longer known';

function payloadView(signedIn: SignedIn, { event, delivery }: DeliveryDetails): View {
  if (event === null) return html`<p class="muted">The payload is no longer kept.</p>`;
  return html`
    <p class="muted">
      Formatted for reading. The body is sent without line breaks, the same in each attempt.
    </p>
    <div class="row">
      ${copyButton('payload', 'the payload')}
      ${postButton(signedIn, {
        action: `${deliveryHref(delivery)}/curl`,
        label: 'Show as curl',
        button: { class: 'small secondary outline' },
      })}
    </div>
    <pre
      id="payload"
      class="payload"
      dir="ltr"
      tabindex="0"
      role="group"
      aria-labelledby="payload-title"
    >
      ${JSON.stringify(JSON.parse(event.body), null, 2)}
    </pre>
  `;
}

/** Like a secret, shown only in the answer to the form that asked for it. */
const curlView = (command: string): View => html`
  <article class="once" data-shown-once aria-labelledby="once-title">
    <h2 id="once-title">The delivery as a curl command</h2>
    <p>It was signed just now with the subscription’s secret. Receivers accept the signature for ${SIGNATURE_TOLERANCE_SECONDS / 60} minutes, unless they set another tolerance. It is shown only once: afterwards, ask for a new one.</p>
    <p>${copyButton('once', 'the command')}</p>
    <pre id="once" dir="ltr" tabindex="0" role="group" aria-label="The command">${command}</pre>
    <p class="muted">For shells such as bash and zsh. A receiver that has already taken this event may drop it as a duplicate, as an n8n workflow does. To make it take the event again, use Resend.</p>
  </article>
`;
