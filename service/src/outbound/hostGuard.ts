import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { AddressPolicy, Verdict } from './addressPolicy.ts';
import { OutboundError } from './outboundError.ts';
import { keepSlowNamesApart } from './slowNames.ts';
import type { Target } from './targetUrl.ts';

/** Turns a name into all of its IP addresses; rejects when there are none. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

type Host = Pick<Target, 'hostname' | 'protocol'>;

/** Tells which addresses of a host may be dialled; every method throws when the host may not be called. */
export interface HostGuard {
  /** @throws OutboundError `blocked_address` or `not_https` */
  checkLiteral(host: Host): void;
  /** All addresses of a name or literal. @throws OutboundError `unresolvable`, `blocked_address` or `not_https` */
  resolve(host: Host): Promise<ResolvedAddress[]>;
}

const systemResolver: Resolver = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Connections that are opened to one name at the same moment share one question to the name server. */
const shareInFlight = (resolver: Resolver): Resolver => {
  const inFlight = new Map<string, Promise<readonly string[]>>();
  return (hostname) => {
    const running = inFlight.get(hostname);
    if (running) return running;
    const asked = resolver(hostname).finally(() => inFlight.delete(hostname));
    inFlight.set(hostname, asked);
    return asked;
  };
};

const DNS_WORDS: Record<string, string> = {
  ENOTFOUND: 'there is no such name',
  ENODATA: 'it has no address',
  EAI_AGAIN: 'the name server did not answer',
};

const unresolvable = (hostname: string, cause?: unknown) => {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const reason = DNS_WORDS[code] ?? (code || 'it has no address');
  return new OutboundError('unresolvable', `The name ${hostname} could not be resolved: ${reason}.`, { advice: 'Check the name, and the name server of this machine.', cause });
};

/**
 * The one rule about addresses, for names and literals alike.
 * @throws OutboundError `blocked_address`, or `not_https` for http:// to an address that ALLOWED_NETWORKS does not open
 */
const requireCallable = (verdict: Verdict, { hostname, protocol }: Host, address: string) => {
  const isLiteral = hostname === address;
  if (!verdict.allowed) {
    // Those who named a host are not told its address: it may be one inside the operator's network.
    const what = isLiteral ? `it is ${verdict.reason}` : `its name leads to ${verdict.kind}`;
    throw new OutboundError('blocked_address', `${hostname} may not be called: ${what}.`, {
      advice: 'Use a public address; ALLOWED_NETWORKS can open a private network.',
    });
  }
  if (protocol === 'http:' && !verdict.opened) {
    throw new OutboundError(
      'not_https',
      `${hostname} must be called over https://; http:// is for addresses in ALLOWED_NETWORKS only.`,
    );
  }
};

export interface GuardOptions {
  resolver?: Resolver;
  /** For what the operator may know and a tenant may not: the address that a refused name has. */
  log?: Pick<Logger, 'info'>;
}

/** Resolves a host and checks every address it has: one that may not be called refuses the whole name. */
export const createHostGuard = (policy: AddressPolicy, { resolver = systemResolver, log }: GuardOptions = {}): HostGuard => {
  const ask = shareInFlight(keepSlowNamesApart(resolver));
  const check = (host: Host, address: string) => {
    const verdict = policy.judge(address);
    if (!verdict.allowed && host.hostname !== address) {
      log?.info({ host: host.hostname, address, reason: verdict.reason }, 'a name has an address that may not be called');
    }
    requireCallable(verdict, host, address);
  };

  const addressesOf = async (hostname: string) => {
    if (isIP(hostname) !== 0) return [hostname];
    const addresses = await ask(hostname).catch((error: unknown) => {
      throw unresolvable(hostname, error);
    });
    if (addresses.length === 0) throw unresolvable(hostname);
    return addresses;
  };

  return {
    checkLiteral: (host) => check(host, host.hostname),
    resolve: async (host) => {
      const addresses = await addressesOf(host.hostname);
      for (const address of addresses) check(host, address);
      return addresses.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }));
    },
  };
};
