import { z } from 'zod';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from '../event.ts';
import type { SignedIn } from '../../team/index.ts';
import { MAX_SUBSCRIPTIONS } from '../subscription.ts';
import { csrfField } from '../../platform/html/components.ts';
import {
  field,
  formProblem,
  select,
  type FormState,
  type Problems,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';

/** The form's fields, as the operation takes them. */
export const newSubscriptionSchema = z
  .object({
    event: z.enum(EVENT_NAMES, 'must be one of the list'),
    target_url: z
      .string('must be a URL')
      .trim()
      .min(1, 'must not be empty')
      .max(2048, 'must have at most 2048 characters'),
    source: z.string().trim().max(64, 'must have at most 64 characters').default(''),
  })
  .transform(({ event, target_url: targetUrl, source }) => ({
    event,
    events: [event],
    targetUrl,
    source,
  }));

export interface NewSubscriptionForm extends FormState {
  /** A subscription with the same event and URL. */
  readonly existingId?: string | undefined;
}

/**
 * What the form shows for an error of the operation.
 * @throws the error, when the form cannot correct it
 */
export function creationProblems(
  error: unknown,
  { event }: { event: EventName },
): { status: number; problems: Problems; existingId?: string | undefined } {
  if (!(error instanceof AppError)) throw error;
  const { status, code, details, message } = error;
  if (code === 'subscription_exists') {
    const problem = `A subscription already sends ${event} to this URL.`;
    return { status, problems: { target_url: problem }, existingId: details.existingId };
  }
  if (code === 'subscription_limit_reached') return { status, problems: { '': LIMIT_REACHED } };
  if (details.param !== 'target_url') throw error;
  return { status, problems: { target_url: message.replace(/^target_url\b/, 'This URL') } };
}

const LIMIT_REACHED = `You have reached the limit of ${MAX_SUBSCRIPTIONS} subscriptions. Remove one that you no longer use.`;

const EVENT_OPTIONS = EVENT_NAMES.map(
  (name) => [name, `${name} – ${EVENT_DESCRIPTIONS[name]}`] as const,
);

/** Creates a subscription by hand. Folded until it is needed. */
export const newSubscriptionForm = (signedIn: SignedIn, form: NewSubscriptionForm): View => html`
  <details id="new-subscription" open=${Object.keys(form.problems).length > 0}>
    <summary class="open-form">Create a subscription</summary>
    <p class="muted">n8n workflows subscribe by themselves when you publish them. Use this form for other receivers.</p>
    ${formProblem(form.problems[''])}
    <form method="post" action="/keys/subscriptions" class="narrow-form">
      ${csrfField(signedIn)}
      ${select({
        name: 'event',
        label: 'Event',
        form,
        options: EVENT_OPTIONS,
        attributes: { required: true },
      })}
      ${field({
        name: 'target_url',
        label: 'Endpoint URL',
        form,
        help: urlHelp(form.existingId),
        attributes: {
          type: 'url',
          required: true,
          maxlength: 2048,
          placeholder: 'https://example.com/events',
          autocomplete: 'off',
        },
      })}
      ${field({
        name: 'source',
        label: 'Source (optional)',
        form,
        help: 'The name of the receiver, shown in the list.',
        attributes: { maxlength: 64, autocomplete: 'off' },
      })}
      <button>Create subscription</button>
    </form>
  </details>
`;

const urlHelp = (existingId: string | undefined): View =>
  existingId === undefined
    ? 'Events are sent here with POST. It must begin with https://.'
    : html`<a href=${`/keys/subscriptions/${existingId}`}>Open the existing subscription</a>`;
