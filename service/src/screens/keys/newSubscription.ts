import { z } from 'zod';
import { AppError } from '../../domain/errorCatalogue.ts';
import { EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from '../../domain/event.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { MAX_SUBSCRIPTIONS } from '../../domain/subscription.ts';
import { field, formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';

/** The fields as the form names them, into what the operation takes. */
export const newSubscriptionSchema = z
  .object({
    event: z.enum(EVENT_NAMES, 'must be one of the list'),
    target_url: z
      .string('must be an address')
      .trim()
      .min(1, 'must not be empty')
      .max(2048, 'must have at most 2048 characters'),
    source: z.string().trim().max(64, 'must have at most 64 characters').default(''),
  })
  .transform(({ event, target_url: targetUrl, source }) => ({ event, targetUrl, source }));

/** A form that was refused: what was typed, what is wrong, and what stands in its way. */
export interface RefusedSubscription {
  readonly values: FormValues;
  readonly problems: Problems;
  /** The subscription that is there already. */
  readonly existingId?: string | undefined;
}

/**
 * An error of the operation, in the words of the form. @throws the error when the form is not what
 * caused it
 */
export function refusalOf(
  error: unknown,
  { event }: { event: EventName },
): Omit<RefusedSubscription, 'values'> & { status: number } {
  if (!(error instanceof AppError)) throw error;
  const { status, code, details, message } = error;
  if (code === 'subscription_exists') {
    return {
      status,
      problems: { target_url: `A subscription sends ${event} to this address already.` },
      existingId: details.existingId,
    };
  }
  if (code === 'subscription_limit_reached') return { status, problems: { '': limitInWords } };
  if (details.param !== 'target_url') throw error;
  return { status, problems: { target_url: message.replace(/^target_url\b/, 'This address') } };
}

const limitInWords = `There are ${MAX_SUBSCRIPTIONS} subscriptions, which is the most. Remove one that is no longer used.`;

/** Subscribing an address by hand; folded until it is wanted. */
export const newSubscriptionForm = (
  signedIn: SignedIn,
  { values = {}, problems = {}, existingId }: Partial<RefusedSubscription>,
): View => html`
  <details id="new-subscription" open=${Object.keys(problems).length > 0}>
    <summary class="keys-open">Create a subscription by hand</summary>
    <p class="muted">A workflow in n8n subscribes by itself when it is published. This is for another receiver.</p>
    ${formProblem(problems[''])}
    <form method="post" action="/keys/subscriptions" class="keys-fields">
      ${csrfField(signedIn)}
      <label for="f-event">Event</label>
      <select id="f-event" name="event" required aria-invalid=${problems.event === undefined ? null : 'true'} aria-describedby=${problems.event === undefined ? null : 'p-event'}>
        ${EVENT_NAMES.map((name) => html`<option value=${name} selected=${name === values.event}>${name} – ${EVENT_DESCRIPTIONS[name]}</option>`)}
      </select>
      ${problems.event === undefined ? null : html`<small id="p-event" class="problem" role="alert">${problems.event}</small>`}
      ${field({ name: 'target_url', label: 'Target address', values, problems, help: targetHelp(existingId), attributes: { type: 'url', required: true, maxlength: 2048, placeholder: 'https://example.com/events', autocomplete: 'off' } })}
      ${field({ name: 'source', label: 'Source (optional)', values, problems, help: 'Who receives the events, as the list is to name it.', attributes: { maxlength: 64, autocomplete: 'off' } })}
      <button>Create the subscription</button>
    </form>
  </details>
`;

const targetHelp = (existingId: string | undefined): View =>
  existingId === undefined
    ? 'Events are sent there by POST. It begins with https://.'
    : html`<a href=${`/keys/subscriptions/${existingId}`}>Open the subscription that is there</a>`;
