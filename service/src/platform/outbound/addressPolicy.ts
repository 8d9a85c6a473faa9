import { isIP } from 'node:net';
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';
import { findEmbeddedIpv4, isNat64Length, type Nat64Prefix } from './embeddedIpv4.ts';

/** The answer to "may this address be called?", with the reason in words when it may not. */
export type Verdict =
  | {
      allowed: true;
      /** True when ALLOWED_NETWORKS allows it; false when it is public. */
      opened: boolean;
    }
  | {
      allowed: false;
      reason: string;
      /** The reason without any address: people who name a host must not learn its address. */
      kind: string;
    };

export interface AddressPolicy {
  judge(address: string): Verdict;
}

type Address = IPv4 | IPv6;
type Network = [Address, number];

// Cloud metadata and platform endpoints: they hand out credentials, so no configuration opens them.
const METADATA_NETWORKS: readonly Network[] = [
  '169.254.169.0/24', // AWS, Azure, Google, DigitalOcean, OpenStack …
  '169.254.170.0/24', // AWS task and pod credentials
  '169.254.42.42/32', // Scaleway
  '169.254.0.23/32', // Tencent
  '168.63.129.16/32', // Azure wire server
  '100.100.100.200/32', // Alibaba
  '100.96.0.96/32', // Volcano Engine, BytePlus
  '100.80.80.80/32', // UCloud
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // Google
  'fd00:42::42/128', // Scaleway
  'fd00:c1::a9fe:a9fe/128', // Oracle
  'fd00:100::100:200/128', // Alibaba
  'fd00:a9fe:a9fe::1/128', // Akamai
  'fe80::a9fe:a9fe/128', // OpenStack
].map((cidr) => ipaddr.parseCIDR(cidr));

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

const RANGE_WORDS: Record<string, string> = {
  private: 'a private address',
  loopback: 'a loopback address',
  linkLocal: 'a link-local address',
  uniqueLocal: 'a private (unique local) address',
  carrierGradeNat: 'a carrier-grade NAT address',
  unspecified: 'an unspecified address',
  broadcast: 'the broadcast address',
  multicast: 'a multicast address',
  reserved: 'an address reserved for documentation, tests or the future',
  benchmarking: 'an address reserved for benchmarks',
};

const isIn = (address: Address, [network, bits]: Network) =>
  address.kind() === network.kind() && address.match(network, bits);

const isInAny = (address: Address, networks: readonly Network[]) =>
  networks.some((network) => isIn(address, network));

const deny = (kind: string, reason = kind): Verdict => ({ allowed: false, reason, kind });

const isPublic = (address: Address) =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, GLOBAL_IPV6));

const judgeItself = (address: Address, opened: readonly Network[]): Verdict => {
  if (isInAny(address, METADATA_NETWORKS))
    return deny('a cloud metadata address, which is never called');
  const range = address.range();
  // 0.0.0.0 and :: reach this machine in any network, so opening a range must not open them.
  if (range === 'unspecified') return deny('an unspecified address');
  if (isInAny(address, opened)) return { allowed: true, opened: true };
  if (isPublic(address)) return { allowed: true, opened: false };
  return deny(
    RANGE_WORDS[range] ??
      `not a public address (${range === 'unicast' ? 'outside 2000::/3' : range})`,
  );
};

interface Rules {
  opened: readonly Network[];
  nat64Prefixes: readonly Nat64Prefix[];
}

const judgeParsed = (address: Address, { opened, nat64Prefixes }: Rules): Verdict => {
  const embedded =
    address.kind() === 'ipv6' ? findEmbeddedIpv4(address as IPv6, nat64Prefixes) : null;
  if (!embedded || isInAny(address, METADATA_NETWORKS)) return judgeItself(address, opened);

  const { ipv4s, form, judgeOuterToo } = embedded;
  if (ipv4s.length === 0) return deny(`${form} for an IPv4 address that cannot be determined`);
  const verdicts: Verdict[] = [];
  for (const ipv4 of ipv4s) {
    const inside = judgeItself(ipv4, opened);
    if (!inside.allowed)
      return deny(inside.kind, `${form} for ${ipv4.toString()}, ${inside.reason}`);
    verdicts.push(inside);
  }
  if (judgeOuterToo) verdicts.push(judgeItself(address, opened));
  return (
    verdicts.find(({ allowed }) => !allowed) ?? {
      allowed: true,
      opened: verdicts.every((each) => each.allowed && each.opened),
    }
  );
};

/**
 * Removes the zone, which only names a network interface. Node allows names there that ipaddr.js
 * cannot read (`%br-lan`).
 */
const withoutZone = (address: string) => address.split('%', 1)[0]!;

const LOOPBACK_IPV4 = ipaddr.parseCIDR('127.0.0.0/8');
const LOOPBACK_IPV6: Network = ipaddr.parseCIDR('::1/128');

const parseNetworks = (cidrs: readonly string[]): Network[] => {
  const networks = cidrs.map((cidr): Network => {
    try {
      return ipaddr.parseCIDR(cidr.trim());
    } catch (error) {
      throw new TypeError(`"${cidr}" is not a network in CIDR notation such as 10.0.0.0/8`, {
        cause: error,
      });
    }
  });
  const opensLoopback = networks.some(
    ([network, bits]) => bits <= 8 && isIn(LOOPBACK_IPV4[0], [network, bits]),
  );
  return opensLoopback ? [...networks, LOOPBACK_IPV6] : networks;
};

const parseNat64Prefix = (cidr: string): Nat64Prefix => {
  const prefix = ipaddr.isValidCIDR(cidr) ? ipaddr.parseCIDR(cidr) : null;
  if (prefix === null || prefix[0].kind() !== 'ipv6' || !isNat64Length(prefix[1])) {
    throw new TypeError(`"${cidr}" is not a NAT64 prefix such as 2001:db8:64::/96`);
  }
  return prefix as [IPv6, number];
};

/**
 * Decides which IP addresses may be called: public ones, and those in `allowedNetworks`.
 *
 * An IPv6 address may carry IPv4 addresses (mapped, compatible, NAT64, 6to4, ISATAP, Teredo). The
 * IPv4 addresses then decide, so `::/0` opens no IPv4 address. With ISATAP and Teredo, the IPv6
 * address has to be allowed too; Teredo's addresses are not public, so only `allowedNetworks` opens
 * them. Nothing opens metadata addresses or the unspecified address. 127.0.0.0/8 opens ::1 too.
 * @param nat64Prefixes those of this network's own translators (NAT64_PREFIXES). For an address
 * that begins with one, the IPv4 address inside decides.
 * @see docs/decisions/0028-kept-connections-and-repeats.md
 * @throws TypeError when a network is not in CIDR notation, or a prefix has a length that RFC 6052
 * does not define
 */
export const createAddressPolicy = (
  allowedNetworks: readonly string[],
  nat64Prefixes: readonly string[] = [],
): AddressPolicy => {
  const rules: Rules = {
    opened: parseNetworks(allowedNetworks),
    nat64Prefixes: nat64Prefixes.map(parseNat64Prefix),
  };
  return {
    judge: (address) =>
      isIP(address) === 0
        ? deny('not an IP address')
        : judgeParsed(ipaddr.parse(withoutZone(address)), rules),
  };
};
