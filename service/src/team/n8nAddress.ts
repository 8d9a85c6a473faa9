import { isThisMachine } from '../platform/outbound/hostOpening.ts';

/** Where the owner of the service says that n8n runs. It holds for every workspace. */
export interface N8nAddress {
  /**
   * An address that outgoing calls may open although it is not public, such as
   * `http://localhost:5678`. Null when n8n is at a public https address.
   */
  readonly origin: string | null;
  readonly changedBy: string;
  readonly changedAt: string;
}

export const DEFAULT_N8N_PORT = '5678';

/** `http://localhost:5678`, for an n8n on the service's own machine. */
export const originOnThisMachine = (port: string): string => `http://localhost:${port}`;

/** The port of an n8n on the service's own machine; null when it is elsewhere. */
export function portOnThisMachine(origin: string): string | null {
  const url = new URL(origin);
  return isThisMachine(url) && url.protocol === 'http:' ? url.port || '80' : null;
}

/**
 * Reads the address of an n8n as somebody types it: `192.168.1.20`, `n8n.lan:5678`,
 * `http://n8n.lan:5678/home`. Without a scheme, it is http, and its port is DEFAULT_N8N_PORT
 * unless one is given.
 * @returns its origin; null when it is not an address
 */
export function readN8nOrigin(text: string): string | null {
  const written = text.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(written);
  const url = /[\s\\]/.test(written) ? null : URL.parse(hasScheme ? written : `http://${written}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return null;
  // Not `url.port`, which is empty even if port 80 was typed.
  const hasPort = /^[^/?#]*:\d+([/?#]|$)/.test(written);
  if (!hasScheme && !hasPort) url.port = DEFAULT_N8N_PORT;
  return url.hostname === '' || url.port === '0' ? null : url.origin;
}
