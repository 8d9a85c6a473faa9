import ipaddr from 'ipaddr.js';
import type { Channel } from '../../domain/channel.ts';
import { badge, testedView } from '../components.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';

/** Whether the connection works. Payment providers show it in the same way. */
export function connectionBadge({ lastTest }: Pick<Channel, 'lastTest'>): View {
  if (lastTest === null) return badge('not tested');
  return lastTest.ok ? badge('working', 'good') : badge('failed', 'bad');
}

/** The last connection test. @param label of the channel or provider */
export const lastTestView = (
  { lastTest }: Pick<Channel, 'lastTest'>,
  label: string,
  now: Date,
): View =>
  lastTest === null
    ? html`<p>Not tested yet with these settings. A test asks ${label} and sends nothing to customers.</p>`
    : testedView(lastTest.at, lastTest.ok, lastTest.message, now);

/** When the channel last delivered something, which shows whether its webhook is set up. */
export const lastInboundView = (
  { lastInboundAt }: Pick<Channel, 'lastInboundAt'>,
  label: string,
  now: Date,
): View =>
  lastInboundAt === null
    ? html`Nothing received from ${label} yet.`
    : html`Last received from ${label}: ${timeView(lastInboundAt, now)}.`;

/** Why other services cannot reach the public URL, as far as it shows; null when they can. */
export function whyUnreachable(publicUrl: string): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (isLocal(hostname)) return `${publicUrl} is only reachable from this machine or network.`;
  if (protocol !== 'https:') return `${publicUrl} does not begin with https://.`;
  return null;
}

function isLocal(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address)) return ipaddr.process(address).range() !== 'unicast';
  return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
}

/**
 * Warns that other services cannot reach this one.
 * @param sender the channel or provider that cannot
 * @param consequence what does not work until then
 */
export function reachabilityWarning(
  publicUrl: string,
  sender: string,
  consequence = 'Until then, no messages from customers arrive.',
): View {
  const why = whyUnreachable(publicUrl);
  if (why === null) return null;
  return html`
    <p class="problem" role="note">
      <strong>${sender} cannot reach this service:</strong> ${why} Set <code>PUBLIC_URL</code> to its
      public <code>https://</code> URL and restart it. ${consequence}
    </p>
  `;
}
