import ipaddr from 'ipaddr.js';
import { html, type View } from '../html.ts';

/**
 * Why other people's services cannot deliver to an address of ours, in words; null when they can,
 * as far as it shows.
 */
export function whyUnreachable(publicUrl: string): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (isLocal(hostname)) return `${publicUrl} is an address of this machine or network only.`;
  if (protocol !== 'https:') return `${publicUrl} is no https:// address.`;
  return null;
}

function isLocal(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address)) return ipaddr.process(address).range() !== 'unicast';
  return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
}

/** @param sender who cannot deliver: the channel's name */
export function reachabilityWarning(publicUrl: string, sender: string): View {
  const why = whyUnreachable(publicUrl);
  if (why === null) return null;
  return html`
    <p class="problem" role="note">
      <strong>${sender} cannot deliver to this service:</strong> ${why} Set <code>PUBLIC_URL</code> to its public <code>https://</code> address and start it again; until then no message of a customer arrives.
    </p>
  `;
}
