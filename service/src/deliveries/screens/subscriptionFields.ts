import { z } from 'zod';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from '../event.ts';
import { FILTER_WORDS, MAX_FILTER_CONVERSATIONS, tidyFilter, type Filter } from '../filter.ts';
import { eventsOf, type Subscription } from '../subscription.ts';
import {
  checkbox,
  field,
  fieldProblem,
  textArea,
  type FormState,
  type FormValues,
  type Problems,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { subscriptionHref } from './deliveriesList.ts';
import { filterLabel, LIST_LABELS, type WordList } from './filterLabels.ts';

/** The fields with which a subscription is created and changed. */

export interface SubscriptionForm extends FormState {
  /** A subscription that already has the same URL and one of the events. */
  readonly existingId?: string | undefined;
}

const LISTS = Object.keys(FILTER_WORDS) as WordList[];

/** Checks the fields of a form, as `subscriptionInput` reads them. */
export const subscriptionSchema = z.object({
  events: z.array(z.enum(EVENT_NAMES)).min(1, 'choose at least one event'),
  target_url: z
    .string('must be a URL')
    .trim()
    .min(1, 'must not be empty')
    .max(2048, 'must have at most 2048 characters'),
  filter: z.custom<Filter>().transform(tidyFilter),
  conversation_ids: z
    .array(z.string().max(64, 'must be ids of at most 64 characters'))
    .max(MAX_FILTER_CONVERSATIONS, `must be at most ${MAX_FILTER_CONVERSATIONS} ids`),
  catchUp: z.boolean(),
});

/** Turns the texts of the form into what the schema checks. */
export function subscriptionInput(values: FormValues) {
  const ticked = <Word extends string>(list: string, words: readonly Word[]) =>
    words.filter((word) => values[`${list}_${word}`] === 'on');
  const conversationIds = (values.conversation_ids ?? '').split(/[\s,]+/).filter(Boolean);
  const lists = LISTS.map((list) => [list, ticked(list, FILTER_WORDS[list])] as const);
  return {
    events: ticked('event', EVENT_NAMES),
    target_url: values.target_url,
    filter: { ...Object.fromEntries(lists), conversationIds },
    // Checked once more under the name of the field, which shows the problem.
    conversation_ids: conversationIds,
    catchUp: values.catch_up === 'on',
  };
}

/** The form, filled in with what a subscription has now. */
export function valuesOf(subscription: Subscription): FormValues {
  const filter = subscription.filter ?? {};
  const ticked = (list: string, words: readonly string[] = []) =>
    words.map((word) => [`${list}_${word}`, 'on'] as const);
  return Object.fromEntries([
    ...ticked('event', eventsOf(subscription)),
    ...LISTS.flatMap((list) => ticked(list, filter[list])),
    ['target_url', subscription.targetUrl],
    ['conversation_ids', (filter.conversationIds ?? []).join('\n')],
    ['catch_up', subscription.catchUp ? 'on' : ''],
  ]);
}

/**
 * What the form shows for an error of the operation.
 * @throws the error, when the form cannot correct it
 */
export function subscriptionProblems(error: unknown): {
  status: number;
  problems: Problems;
  existingId?: string | undefined;
} {
  if (!(error instanceof AppError)) throw error;
  const { status, code, details, message } = error;
  if (code === 'subscription_exists') {
    const problem = 'A subscription already sends one of these events to this URL.';
    return { status, problems: { target_url: problem }, existingId: details.existingId };
  }
  if (code === 'subscription_limit_reached') return { status, problems: { '': message } };
  if (details.param !== 'target_url') throw error;
  return { status, problems: { target_url: message.replace(/^target_url\b/, 'This URL') } };
}

export const subscriptionFields = (form: SubscriptionForm): View => html`
  <fieldset aria-describedby=${form.problems.events === undefined ? null : 'p-events'}>
    <legend>Events</legend>
    <div class="columns">
      ${EVENT_NAMES.map((name) => eventBox(name, form))}
    </div>
    ${fieldProblem('events', form)}
  </fieldset>
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
  <fieldset>
    <legend>Only some of these events</legend>
    <p class="muted">Where nothing is ticked, all are sent.</p>
    ${LISTS.map((list) => filterSection(list, form))}
    ${conversationsSection(form)}
  </fieldset>
  ${checkbox({ name: 'catch_up', label: 'After an outage, send what was missed in the last 24 hours', form })}
`;

const eventBox = (name: EventName, form: FormState): View =>
  checkbox({
    name: `event_${name}`,
    label: name,
    help: EVENT_DESCRIPTIONS[name],
    form,
  });

/** A list of the filter, open if something in it is ticked. */
function filterSection(list: WordList, form: FormState): View {
  const isSet = FILTER_WORDS[list].some((word) => form.values[`${list}_${word}`] === 'on');
  return html`
    <details open=${isSet}>
      <summary>${LIST_LABELS[list]}</summary>
      <div class="columns">
        ${FILTER_WORDS[list].map((word) => checkbox({ name: `${list}_${word}`, label: filterLabel(list, word), form }))}
      </div>
    </details>
  `;
}

const conversationsSection = (form: FormState): View => html`
  <details open=${(form.problems.conversation_ids ?? form.values.conversation_ids ?? '') !== ''}>
    <summary>Certain conversations</summary>
    ${textArea({
      name: 'conversation_ids',
      label: 'Conversation ids',
      form,
      help: 'One on each line.',
      attributes: { rows: 2, autocomplete: 'off' },
    })}
  </details>
`;

const urlHelp = (existingId: string | undefined): View =>
  existingId === undefined
    ? 'Events are sent here with POST. It must begin with https://.'
    : html`<a href=${subscriptionHref(existingId)}>Open the existing subscription</a>`;
