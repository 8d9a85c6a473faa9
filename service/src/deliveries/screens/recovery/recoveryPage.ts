import type { SignedIn } from '../../../team/index.ts';
import type { Undelivered } from '../../operations/undelivered.ts';
import type { Subscription } from '../../subscription.ts';
import { backLink, csrfField } from '../../../platform/html/components.ts';
import { field, newForm, type FormState, type FormValues } from '../../../platform/html/forms.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { teamPage } from '../../../platform/html/layout.ts';
import { readOffset, timeView } from '../../../platform/html/times.ts';
import { recoverHref, subscriptionHref } from '../deliveriesList.ts';
import { eventsInWords } from '../subscriptionState.ts';

interface RecoveryPage {
  readonly subscription: Subscription;
  readonly undelivered: Undelivered;
  readonly now: Date;
  /** The form as it was sent. Absent: the time of the first failure is proposed. */
  readonly form?: FormState;
}

/** Asks from which failure on to send deliveries again, and says how many there are. */
export const recoveryPage = (
  signedIn: SignedIn,
  { subscription, undelivered, now, form }: RecoveryPage,
): View =>
  teamPage(
    signedIn,
    { title: 'Resend failed deliveries', section: 'keys' },
    html`
      ${backLink(subscriptionHref(subscription.id), eventsInWords(subscription))}
      <h1>Resend failed deliveries</h1>
      ${
        undelivered.firstFailedAt === null && form === undefined
          ? html`<p>Nothing to resend: every delivery has arrived, is pending, or was cancelled. Failed test events do not count.</p>`
          : html`
              ${totalView(undelivered, now)}
              ${sinceForm(signedIn, subscription, undelivered, form)}
            `
      }
    `,
  );

const totalView = (undelivered: Undelivered, now: Date): View => {
  const { sinceCount, beforeCount, firstFailedAt, lastFailedAt, isCut } = undelivered;
  const total = sinceCount + beforeCount;
  if (total === 0) return html`<p>No failed delivery is left.</p>`;
  const first = html`failed and never arrived: the first ${timeView(firstFailedAt, now)}`;
  return isCut
    ? html`<p>More than ${deliveries(total)} ${first}.</p>`
    : html`<p>${deliveries(total)} ${first}, the last ${timeView(lastFailedAt, now)}.</p>`;
};

const deliveries = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`;

/** What was not counted may have failed before or after the time. */
const atLeast = ({ isCut }: Undelivered): string => (isCut ? 'at least ' : '');

function sinceForm(
  signedIn: SignedIn,
  { id }: Subscription,
  undelivered: Undelivered,
  form: FormState | undefined,
): View {
  const first = undelivered.firstFailedAt;
  return html`
    <form
      id="recover"
      method="post"
      action=${recoverHref(id)}
      class="narrow-form"
      hx-disabled-elt="find button"
    >
      ${csrfField(signedIn)}
      <input type="hidden" name="offset" value="" />
      ${field({
        name: 'since',
        label: 'Failed since',
        form: proposed(form, first),
        help: html`Time zone: <span data-zone>UTC</span>. What counts is when a delivery failed, not when its event happened.`,
        attributes: { type: 'datetime-local', required: true, 'data-own-zone': true },
      })}
      <div role="status">
        <dl class="facts-list">
          <dt>Will be sent</dt><dd>${atLeast(undelivered)}${deliveries(undelivered.sinceCount)}</dd>
          <dt>Will not be sent</dt><dd>${notSent(undelivered)}</dd>
        </dl>
      </div>
      <p class="muted">Event ids and payloads stay the same, and receivers that follow the documentation drop what they have taken before. Pending deliveries go out by themselves.</p>
      <div class="row">
        <button>Resend</button>
        <button name="count" value="yes" class="secondary outline">Update the count</button>
      </div>
    </form>
  `;
}

const notSent = (undelivered: Undelivered): string => {
  const { beforeCount, isCut } = undelivered;
  if (beforeCount === 0 && !isCut) return 'none';
  return `${atLeast(undelivered)}${beforeCount.toLocaleString('en')} that failed before this time`;
};

/** The form as it was sent, or with the minute of the first failure. */
function proposed(form: FormState | undefined, firstFailedAt: string | null): FormState {
  if (form === undefined) return newForm(firstFailedAt ? { since: inputTime(firstFailedAt) } : {});
  const since = parseSince(form.values);
  if (since === null) return form;
  return { ...form, values: { since: inputTime(since.toISOString()) } };
}

/** A time in UTC, as `<input type="datetime-local">` takes it. */
const inputTime = (time: string) => time.slice(0, 16);

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/**
 * The time that was entered: in UTC, or in the time zone whose offset (in minutes west of UTC) the
 * page's script added to the form.
 * @returns null when it is not a time
 */
export function parseSince({ since = '', offset = '' }: FormValues): Date | null {
  const minutes = readOffset(offset);
  const time = LOCAL_TIME.test(since) ? new Date(`${since}Z`) : null;
  // Date turns 31 February into 3 March.
  if (minutes === null || !time || !isSameDay(time, since)) return null;
  return new Date(time.getTime() + minutes * 60_000);
}

const isSameDay = (time: Date, text: string): boolean =>
  !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
