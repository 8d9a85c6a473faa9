import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { Bounds } from '../limits/bounds.ts';
import type { AddressPolicy, Verdict } from './addressPolicy.ts';
import type { HostOpening } from './hostOpening.ts';
import { Lookups, type Asker, type Resolver } from './lookups.ts';
import { OutboundError } from './outboundError.ts';
import type { Host } from './targetUrl.ts';

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Tells which addresses of a host may be dialled. */
export interface HostGuard {
  /**
   * All addresses of a name or literal, each checked.
   * @param candidate an opening that is not in force yet; it is used in place of the one that is
   * @throws OutboundError `unresolvable`, `busy`, `blocked_address` or `not_https`; the signal's
   * reason
   */
  resolve(host: Host, asker: Asker, candidate?: HostOpening): Promise<ResolvedAddress[]>;
}

const systemResolver: Resolver = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

const DNS_WORDS: Record<string, string> = {
  ENOTFOUND: 'there is no such name',
  ENODATA: 'it has no address',
  EAI_AGAIN: 'the name server did not answer',
};

const unresolvable = (hostname: string, cause?: unknown) => {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
  const reason = DNS_WORDS[code] ?? (code || 'it has no address');
  return new OutboundError(
    'unresolvable',
    `The name ${hostname} could not be resolved: ${reason}.`,
    { advice: 'Check the name, and the name server of this machine.', cause },
  );
};

/**
 * Applies the verdict on one address of a name, or on an IP literal.
 * @throws OutboundError `blocked_address`, or `not_https` for http:// to an address that
 * ALLOWED_NETWORKS does not open
 */
const requireCallable = (
  verdict: Verdict,
  { hostname, protocol }: Host,
  address: string,
  insecureTargets: boolean,
) => {
  const isLiteral = hostname === address;
  if (!verdict.allowed) {
    // Leaves out the address of a name, which may be inside the operator's network.
    const what = isLiteral ? `it is ${verdict.reason}` : `its name leads to ${verdict.kind}`;
    throw new OutboundError('blocked_address', `${hostname} may not be called: ${what}.`, {
      advice:
        'Use a public address. The owner of this service can open one private host under Settings, and ALLOWED_NETWORKS a private network.',
    });
  }
  if (protocol === 'http:' && !(insecureTargets && verdict.opened)) {
    throw new OutboundError(
      'not_https',
      `${hostname} must be called over https://; http:// is for addresses in ALLOWED_NETWORKS only.`,
    );
  }
};

interface GuardOptions {
  /** Lets http:// through to addresses in ALLOWED_NETWORKS. */
  insecureTargets: boolean;
  /** Returns the host that is opened now, beside ALLOWED_NETWORKS. Called after each look-up. */
  opening: () => HostOpening | null;
  resolver?: Resolver;
  /** Told when too many names wait to be looked up. */
  bounds?: Bounds;
  /** Gets the addresses of refused names, which the operator may see and a customer may not. */
  log?: Pick<Logger, 'info'>;
}

/**
 * Resolves a host and checks all its addresses. If one may not be called, the whole name is
 * refused.
 */
export const createHostGuard = (
  policy: AddressPolicy,
  { insecureTargets, opening, resolver = systemResolver, bounds, log }: GuardOptions,
): HostGuard => {
  const lookups = new Lookups(resolver, { bounds });
  const isOpened = (opened: HostOpening | null, host: Host, address: string) => {
    if (!opened?.includes(host) || (host.protocol === 'http:' && !opened.allowsHttp)) return false;
    const verdict = opened.judge(address);
    return verdict.allowed && verdict.opened;
  };
  const check = (host: Host, address: string, opened: HostOpening | null) => {
    if (isOpened(opened, host, address)) return;
    const verdict = policy.judge(address);
    if (!verdict.allowed && host.hostname !== address) {
      log?.info(
        { host: host.hostname, address, reason: verdict.reason },
        'a name has an address that may not be called',
      );
    }
    requireCallable(verdict, host, address, insecureTargets);
  };

  const addressesOf = async (hostname: string, asker: Asker) => {
    if (isIP(hostname) !== 0) return [hostname];
    const addresses = await lookups.ask(hostname, asker).catch((error: unknown) => {
      asker.signal?.throwIfAborted();
      throw error instanceof OutboundError ? error : unresolvable(hostname, error);
    });
    if (addresses.length === 0) throw unresolvable(hostname);
    return addresses;
  };

  return {
    resolve: async (host, asker, candidate) => {
      const addresses = await addressesOf(host.hostname, asker);
      // Asked for after the look-up, so that a host closed in between is not dialled.
      const opened = candidate ?? opening();
      for (const address of addresses) check(host, address, opened);
      return addresses.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }));
    },
  };
};
