// What "public" means, written from IANA's special-purpose registries and the RFCs that put an IPv4
// address into an IPv6 one. It shares nothing with the code under test: addresses are numbers here,
// ranges are text.
import fc from 'fast-check';

export type Family = 4 | 6;
export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

export const BITS: Record<Family, bigint> = { 4: 32n, 6: 128n };

export const ipv4 = (value: bigint): Address => ({ family: 4, value });
export const ipv6 = (value: bigint): Address => ({ family: 6, value });

/** `a.b.c.d`, or eight groups in full, without any abbreviation. */
export const write = ({ family, value }: Address): string =>
  family === 4
    ? [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.')
    : Array.from({ length: 8 }, (_each, n) =>
        ((value >> BigInt(112 - 16 * n)) & 0xffffn).toString(16),
      ).join(':');

/**
 * Spellings of one IPv6 address: in full, with leading zeros, in capitals, abbreviated, with its
 * end as IPv4. An IPv4 address has one.
 */
export const spellings = (address: Address): string[] => {
  const full = write(address);
  if (address.family === 4) return [full];
  const groups = full.split(':');
  const dotted = write(ipv4(address.value & 0xffffffffn));
  return [
    full,
    groups.map((group) => group.padStart(4, '0')).join(':'),
    full.toUpperCase(),
    full.replace(/(^|:)0(:0)+(:|$)/, '::'),
    `${groups.slice(0, 6).join(':')}:${dotted}`,
  ];
};

export const readIpv4 = (text: string): bigint =>
  text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);

const readIpv6 = (text: string): bigint => {
  const [head = '', tail] = text.split('::');
  const groups = (part: string) =>
    part === '' ? [] : part.split(':').map((each) => BigInt(`0x${each}`));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) | group, 0n);
};

export interface Range {
  readonly name: string;
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export const range = (cidr: string): Range => {
  const [text = '', bits = ''] = cidr.split('/');
  const family = text.includes(':') ? 6 : 4;
  const first = family === 6 ? readIpv6(text) : readIpv4(text);
  return { name: cidr, family, first, last: first + (1n << (BITS[family] - BigInt(bits))) - 1n };
};

/**
 * Not globally reachable (IANA IPv4 Special-Purpose Address Registry), multicast, and one cloud's
 * own address.
 */
export const CLOSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
].map(range);

/**
 * Not globally reachable (IANA IPv6 Special-Purpose Address Registry); what wraps an IPv4 address
 * is not listed.
 */
export const CLOSED_IPV6 = [
  '::/128',
  '::1/128',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/32',
  '2001:2::/48',
  '2001:5::/32',
  '2001:10::/28',
  '2001:40::/26',
  '2001:100::/24',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map(range);

export const CLOSED = [...CLOSED_IPV4, ...CLOSED_IPV6];

/**
 * Special in the registries, and reachable or of no settled meaning: relays, anycast services, the
 * rest of 2001::/23. Nobody's webhook lives there, so either answer is right.
 */
const EITHER = [
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.175.48.0/24',
  '2001::/23',
  '2620:4f:8000::/48',
].map(range);

const GLOBAL_UNICAST = range('2000::/3');

export const within = ({ family, first, last }: Range) =>
  fc.bigInt({ min: first, max: last }).map((value): Address => ({ family, value }));

export const anyIpv4 = within(range('0.0.0.0/0'));
export const closedIpv4 = fc.constantFrom(...CLOSED_IPV4).chain(within);
export const globalIpv6 = within(GLOBAL_UNICAST);

const lies = ({ family, value }: Address, within: Range) =>
  family === within.family && within.first <= value && value <= within.last;

interface Wrapper {
  readonly name: string;
  readonly range: Range;
  /** How many bits follow the IPv4 address. */
  readonly shift: bigint;
}

/**
 * RFC 4291 (mapped, compatible), RFC 2765 (translated), RFC 6052 and 8215 (NAT64), RFC 3056 (6to4).
 */
const WRAPPERS: readonly Wrapper[] = [
  { name: 'mapped', range: range('::ffff:0:0/96'), shift: 0n },
  { name: 'compatible', range: range('::/96'), shift: 0n },
  { name: 'translated', range: range('::ffff:0:0:0/96'), shift: 0n },
  { name: 'NAT64', range: range('64:ff9b::/96'), shift: 0n },
  { name: 'local NAT64', range: range('64:ff9b:1::/96'), shift: 0n },
  { name: '6to4', range: range('2002::/16'), shift: 80n },
];

/** RFC 5214: the interface identifier is 0000:5efe or 0200:5efe, then the IPv4 address. */
const isatapInside = (value: bigint): Address | null => {
  const marker = (value >> 32n) & 0xffffffffn;
  return marker === 0x00005efen || marker === 0x02005efen ? ipv4(value & 0xffffffffn) : null;
};

export type Answer = 'public' | 'closed' | 'either';

/** Whether an address may be called when nothing is opened. */
export function publicOracle(address: Address): Answer {
  if (address.family === 4) {
    if (CLOSED_IPV4.some((each) => lies(address, each))) return 'closed';
    return EITHER.some((each) => lies(address, each)) ? 'either' : 'public';
  }
  if (CLOSED_IPV6.some((each) => lies(address, each))) return 'closed';
  const wrapper = WRAPPERS.find((each) => lies(address, each.range));
  if (wrapper) return publicOracle(ipv4((address.value >> wrapper.shift) & 0xffffffffn));
  if (!lies(address, GLOBAL_UNICAST)) return 'closed';
  const inside = isatapInside(address.value);
  if (inside && publicOracle(inside) !== 'public') return publicOracle(inside);
  return EITHER.some((each) => lies(address, each)) ? 'either' : 'public';
}

export interface Embedding {
  readonly name: string;
  embed(inside: bigint): bigint;
}

const TEREDO = readIpv6('2001::');

/** Every known way to hide an IPv4 address in an IPv6 one, whether or not it leads there. */
export const EMBEDDINGS: readonly Embedding[] = [
  ...WRAPPERS.map(({ name, range: { first }, shift }) => ({
    name,
    embed: (inside: bigint) => first | (inside << shift),
  })),
  {
    name: '6to4 with an interface',
    embed: (inside) => (0x2002n << 112n) | (inside << 80n) | 0xabcdn,
  },
  { name: 'ISATAP', embed: (inside) => readIpv6('2606:4700::5efe:0:0') | inside },
  {
    name: 'ISATAP, globally unique',
    embed: (inside) => readIpv6('2606:4700:0:1:200:5efe:0:0') | inside,
  },
  // RFC 4380: the client's address is stored inverted; the server's stands in the clear.
  {
    name: 'Teredo client',
    embed: (inside) => TEREDO | (readIpv4('8.8.8.8') << 64n) | (inside ^ 0xffffffffn),
  },
  {
    name: 'Teredo server',
    embed: (inside) => TEREDO | (inside << 64n) | (readIpv4('8.8.8.8') ^ 0xffffffffn),
  },
  // RFC 6052, table 1: shorter prefixes leave bits 64 to 71 empty.
  {
    name: 'local NAT64 /48',
    embed: (inside) =>
      readIpv6('64:ff9b:1::') | ((inside >> 16n) << 64n) | ((inside & 0xffffn) << 40n),
  },
  {
    name: 'local NAT64 /56',
    embed: (inside) =>
      readIpv6('64:ff9b:1::') | ((inside >> 24n) << 64n) | ((inside & 0xffffffn) << 32n),
  },
  { name: 'local NAT64 /64', embed: (inside) => readIpv6('64:ff9b:1::') | (inside << 24n) },
];

/** Never to be reached, whatever is opened: they hand out credentials. */
export const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '100.96.0.96',
  '100.80.80.80',
  '192.0.0.192',
].map((text) => readIpv4(text));
