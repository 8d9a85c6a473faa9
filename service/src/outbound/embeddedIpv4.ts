import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

/**
 * What a network's own translator puts before IPv4 addresses (RFC 6052), with its length in bits.
 */
export type Nat64Prefix = readonly [IPv6, number];

/** What an IPv6 address that carries IPv4 addresses leads to. */
export interface EmbeddedIpv4 {
  /**
   * Each is passed on the way, so each has to be judged; none when it cannot be told which one it
   * is.
   */
  ipv4s: readonly IPv4[];
  /** How it is carried, for messages. */
  form: string;
  /**
   * The IPv6 address is itself a place on the network (ISATAP, Teredo), so it has to be judged too.
   */
  judgeOuterToo: boolean;
}

type Parts = readonly number[];
const part = (parts: Parts, index: number) => parts[index] ?? 0;
const startsWith = (parts: Parts, prefix: Parts) =>
  prefix.every((value, index) => parts[index] === value);

const toIpv4 = (high: number, low: number) =>
  new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
const ipv4At = (parts: Parts, index: number): IPv4 =>
  toIpv4(part(parts, index), part(parts, index + 1));
/** Teredo stores its client's address with every bit turned over (RFC 4380). */
const invertedIpv4At = (parts: Parts, index: number): IPv4 =>
  toIpv4(part(parts, index) ^ 0xffff, part(parts, index + 1) ^ 0xffff);

const NAT64 = 'NAT64';
/** What RFC 8215 gives networks for translators of their own. */
const LOCAL_NAT64: Parts = [0x64, 0xff9b, 1];

// Prefixes whose last 32 bits are an IPv4 address.
const TRAILING_FORMS: readonly { form: string; prefix: Parts }[] = [
  { form: 'IPv4-mapped', prefix: [0, 0, 0, 0, 0, 0xffff] },
  { form: 'IPv4-translated', prefix: [0, 0, 0, 0, 0xffff, 0] },
  { form: NAT64, prefix: [0x64, 0xff9b, 0, 0, 0, 0] },
  { form: NAT64, prefix: [...LOCAL_NAT64, 0, 0, 0] },
];

const isUnspecifiedOrLoopback = (parts: Parts) => part(parts, 6) === 0 && part(parts, 7) <= 1;

/**
 * Where the bytes of the IPv4 address stand, by the length of the prefix: byte 8 is passed over
 * (RFC 6052, 2.2).
 */
const NAT64_BYTES: Readonly<Record<number, Parts>> = {
  32: [4, 5, 6, 7],
  40: [5, 6, 7, 9],
  48: [6, 7, 9, 10],
  56: [7, 9, 10, 11],
  64: [9, 10, 11, 12],
  96: [12, 13, 14, 15],
};
const PASSED_OVER = 8;

export const isNat64Length = (bits: number) => Object.hasOwn(NAT64_BYTES, bits);

const readNat64 = (address: IPv6, [, bits]: Nat64Prefix): EmbeddedIpv4 => {
  const bytes = address.toByteArray();
  const isWellFormed = bits === 96 || bytes[PASSED_OVER] === 0;
  const ipv4s = isWellFormed ? [new ipaddr.IPv4(NAT64_BYTES[bits]!.map((at) => bytes[at]!))] : [];
  return { ipv4s, form: NAT64, judgeOuterToo: false };
};

/**
 * The IPv4 addresses inside an IPv6 address that carries some, or null.
 * @param nat64Prefixes of translators of this network; the longest that fits counts
 */
export const findEmbeddedIpv4 = (
  address: IPv6,
  nat64Prefixes: readonly Nat64Prefix[] = [],
): EmbeddedIpv4 | null => {
  const standard = findStandardForm(address);
  const [prefix] = nat64Prefixes
    .filter(([network, bits]) => address.match(network, bits))
    .sort(([, a], [, b]) => b - a);
  if (!prefix) return standard;
  const own = readNat64(address, prefix);
  // Of 64:ff9b:1::/48 the operator knows better where the address stands; of every other form both
  // have to be fit.
  if (!standard || startsWith(address.parts, LOCAL_NAT64)) return own;
  const isTold = own.ipv4s.length > 0 && standard.ipv4s.length > 0;
  return { ...standard, ipv4s: isTold ? [...own.ipv4s, ...standard.ipv4s] : [] };
};

const findStandardForm = (address: IPv6): EmbeddedIpv4 | null => {
  const { parts } = address;
  const trailing = TRAILING_FORMS.find(({ prefix }) => startsWith(parts, prefix));
  if (trailing) return { ipv4s: [ipv4At(parts, 6)], form: trailing.form, judgeOuterToo: false };
  // RFC 8215 lets a network choose a shorter prefix, and with it another place for the IPv4
  // address.
  if (startsWith(parts, LOCAL_NAT64)) return { ipv4s: [], form: NAT64, judgeOuterToo: false };
  if (startsWith(parts, [0, 0, 0, 0, 0, 0]) && !isUnspecifiedOrLoopback(parts)) {
    return { ipv4s: [ipv4At(parts, 6)], form: 'IPv4-compatible', judgeOuterToo: false };
  }
  if (part(parts, 0) === 0x2002)
    return { ipv4s: [ipv4At(parts, 1)], form: '6to4', judgeOuterToo: false };
  if (startsWith(parts, [0x2001, 0])) {
    return {
      ipv4s: [invertedIpv4At(parts, 6), ipv4At(parts, 2)],
      form: 'Teredo',
      judgeOuterToo: true,
    };
  }
  // ISATAP: interface identifier 0000:5efe or, for a globally unique address, 0200:5efe.
  if ((part(parts, 4) & 0xfdff) === 0 && part(parts, 5) === 0x5efe) {
    return { ipv4s: [ipv4At(parts, 6)], form: 'ISATAP', judgeOuterToo: true };
  }
  return null;
};
