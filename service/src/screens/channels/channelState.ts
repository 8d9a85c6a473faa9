import type { Channel } from '../../domain/channel.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';

/** Whether the connection works, in a word. */
export function connectionBadge({ lastTest }: Pick<Channel, 'lastTest'>): View {
  if (lastTest === null) return html`<span class="badge">never tested</span>`;
  return lastTest.ok
    ? html`<span class="badge good">connection OK</span>`
    : html`<span class="badge bad">connection failed</span>`;
}

/** The last test with its result in words. @param label the channel's */
export function connectionWords(
  { lastTest }: Pick<Channel, 'lastTest'>,
  label: string,
  now: Date,
): View {
  if (lastTest === null)
    return html`<p>The connection was not tested yet with what is filled in. A test asks ${label} and sends nothing to anybody.</p>`;
  return html`<p>Tested ${timeView(lastTest.at, now)}: <bdi class=${lastTest.ok ? 'said' : 'said problem'}>${lastTest.message}</bdi></p>`;
}

/** When the channel last delivered something, so that one sees whether its webhook is set up. */
export const deliveryWords = (
  { lastInboundAt }: Pick<Channel, 'lastInboundAt'>,
  label: string,
  now: Date,
): View =>
  lastInboundAt === null
    ? html`Nothing has come from ${label} yet.`
    : html`${label} last delivered something ${timeView(lastInboundAt, now)}.`;
