import { createAddressPolicy, type Verdict } from './addressPolicy.ts';
import type { Host, Target } from './targetUrl.ts';

/**
 * One host and port that may be called at a private address. Metadata and link-local addresses stay
 * closed, as does every other port of the same machine.
 */
export interface HostOpening {
  /** `http://localhost:5678` */
  readonly origin: string;
  includes(host: Host): boolean;
  /** Judges an address of an included host. `opened` is true when only this opening allows it. */
  judge(address: string): Verdict;
  /** Whether http:// may be used there. */
  readonly allowsHttp: boolean;
}

/** Names of this machine. n8n shows the first name; people and other tools use all three. */
const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const LOOPBACK = ['127.0.0.1/32', '::1/128'];
/** Includes loopback, because a machine's own name often leads to 127.0.1.1. */
const PRIVATE_NETWORKS = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
  '127.0.0.0/8',
];

const DEFAULT_PORTS = { 'http:': '80', 'https:': '443' };
const portOf = ({ protocol, port }: Pick<Host, 'protocol' | 'port'>) =>
  port === '' ? DEFAULT_PORTS[protocol] : port;

/** Whether a URL's host is `localhost`, 127.0.0.1 or ::1. */
export const isThisMachine = ({ hostname }: Pick<URL, 'hostname'>): boolean =>
  THIS_MACHINE.has(hostname);

/**
 * Opens the host and port of a URL: for https://, and for http:// if the URL begins with it.
 * `localhost`, 127.0.0.1 and ::1 are one host.
 */
export const openHost = (url: URL, nat64Prefixes?: readonly string[]): HostOpening => {
  const isLocal = isThisMachine(url);
  const protocol = url.protocol as Target['protocol'];
  const port = portOf({ protocol, port: url.port });
  const hostnames = new Set(
    (isLocal ? [...THIS_MACHINE] : [url.hostname]).map((name) => name.replace(/^\[|\]$/g, '')),
  );
  const policy = createAddressPolicy(isLocal ? LOOPBACK : PRIVATE_NETWORKS, nat64Prefixes);
  return {
    origin: url.origin,
    includes: (host) => hostnames.has(host.hostname) && portOf(host) === port,
    judge: (address) => policy.judge(address),
    allowsHttp: protocol === 'http:',
  };
};
