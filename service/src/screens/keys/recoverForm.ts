import type { SignedIn } from '../../domain/operations/findSession.ts';
import { field, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The widest offset there is: 14 hours. */
const MAX_OFFSET_MINUTES = 14 * 60;

/** A time as `<input type="datetime-local">` takes it, in UTC. */
const inputValue = (time: Date) => time.toISOString().slice(0, 16);

/**
 * The time that was entered: in UTC, or in the zone whose offset (minutes west of UTC) app.js
 * filled in.
 * @returns null for what is no time
 */
export function parseSince({ since = '', offset = '' }: FormValues): Date | null {
  const minutes = offset === '' ? 0 : Number(offset);
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(since) ? Date.parse(`${since}Z`) : NaN;
  if (Number.isNaN(time) || !Number.isInteger(minutes) || Math.abs(minutes) > MAX_OFFSET_MINUTES)
    return null;
  return new Date(time + minutes * 60_000);
}

/** Sending again all that failed since a time. */
export const recoverForm = (
  signedIn: SignedIn,
  id: string,
  now: Date,
  { values, problems = {} }: { values?: FormValues; problems?: Problems } = {},
): View => html`
  <details id="recover" open=${values !== undefined}>
    <summary class="keys-open">Send again all that failed</summary>
    <form method="post" action=${`/keys/subscriptions/${id}/recover`} class="keys-fields">
      ${csrfField(signedIn)}
      <input type="hidden" name="offset" value="" />
      ${field({
        name: 'since',
        label: 'Failed since',
        values: values ?? { since: inputValue(new Date(now.getTime() - DAY_MS)) },
        problems,
        help: html`Time zone: <span data-zone>UTC</span>. What failed for good since then goes out once more, though its event may be older; what has arrived or is on its way is left alone.`,
        attributes: { type: 'datetime-local', required: true, 'data-own-zone': true },
      })}
      <button>Send again all that failed</button>
    </form>
  </details>
`;
