import type { AnsweredBy, HandoverReason } from '../conversations/index.ts';
import { timeInZone } from '../platform/html/readerZone.ts';

/** In the order of the chart's colours. */
export const ANSWERED_BY_LABELS: Readonly<Record<AnsweredBy, string>> = {
  team_member: 'Your team',
  webhook: 'Workflow',
  language_model: 'Language model',
  keyword: 'Keyword agent',
  api: 'API',
  agent: 'Service notices',
};

export const HANDOVER_LABELS: Readonly<Record<HandoverReason, string>> = {
  customer_request: 'The customer asked for a person',
  missing_knowledge: 'The agent did not know the answer',
  tool_failure: 'A tool failed',
  agent_error: 'The agent ran into an error',
  team_takeover: 'Somebody of your team took over',
  api_takeover: 'An automation took over',
  api_message: 'An automation wrote to the customer',
};

const CHANNEL_LABELS: Readonly<Record<string, string>> = {
  web_chat: 'Web chat',
  whatsapp_cloud: 'WhatsApp',
};

export const channelLabel = (channel: string): string => CHANNEL_LABELS[channel] ?? channel;

/** Each with its length, and from where on it is used: what would be 60 s or 24 h is 1 min or 1 d. */
const UNITS = [
  ['d', 86_400_000, 84_600_000],
  ['h', 3_600_000, 3_570_000],
  ['min', 60_000, 59_500],
  ['s', 1000, 999.5],
] as const;
const TENTHS_BELOW = 10;

/** `820 ms`, `3.2 min`, `14 h`. */
export function durationLabel(ms: number): string {
  const [unit, length] = UNITS.find(([, , from]) => ms >= from) ?? ['ms', 1];
  const n = ms / length;
  return `${n < TENTHS_BELOW && unit !== 'ms' ? Math.round(n * 10) / 10 : Math.round(n)} ${unit}`;
}

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/**
 * `21 Nov`, or the time of day at which an hour begins: `10:00`, `15:30`. When clocks are put back,
 * two hours have the same label.
 * @param start a day of the time zone, `2026-11-21`, or an hour of UTC, `2026-11-21T10`
 */
export const slotLabel = (start: string, timeZone: string): string =>
  start.length > 10
    ? timeInZone(`${start}:00Z`, timeZone).slice(11, 16)
    : dayFormat.format(new Date(`${start}T00:00Z`));
