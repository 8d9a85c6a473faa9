import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

/** The prefix that a network's own translator uses (RFC 6052), with its length in bits. */
export type Nat64Prefix = readonly [IPv6, number];

/** The IPv4 addresses that an IPv6 address carries. */
interface EmbeddedIpv4 {
  /** Traffic passes through each of them, so all must be allowed. Empty when they are unknown. */
  ipv4s: readonly IPv4[];
  /** The name of the form in which the IPv6 address carries them, for messages. */
  form: string;
  /** The IPv6 address itself is also on the network (ISATAP, Teredo), so it must be allowed too. */
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
/** Teredo stores its client's address with every bit inverted (RFC 4380). */
const invertedIpv4At = (parts: Parts, index: number): IPv4 =>
  toIpv4(part(parts, index) ^ 0xffff, part(parts, index + 1) ^ 0xffff);

const NAT64 = 'NAT64';
/** The prefix that RFC 8215 reserves for a network's own translators. */
const LOCAL_NAT64: Parts = [0x64, 0xff9b, 1];

// Prefixes whose last 32 bits are an IPv4 address.
const TRAILING_FORMS: readonly { form: string; prefix: Parts }[] = [
  { form: 'IPv4-mapped', prefix: [0, 0, 0, 0, 0, 0xffff] },
  { form: 'IPv4-translated', prefix: [0, 0, 0, 0, 0xffff, 0] },
  { form: NAT64, prefix: [0x64, 0xff9b, 0, 0, 0, 0] },
  { form: NAT64, prefix: [...LOCAL_NAT64, 0, 0, 0] },
];

/** Whether an address whose first six parts are 0 is :: or ::1. */
const isUnspecifiedOrLoopback = (parts: Parts) => part(parts, 6) === 0 && part(parts, 7) <= 1;

/** The places of the IPv4 address's bytes, by prefix length. Byte 8 is skipped (RFC 6052, 2.2). */
const NAT64_BYTES: Readonly<Record<number, Parts>> = {
  32: [4, 5, 6, 7],
  40: [5, 6, 7, 9],
  48: [6, 7, 9, 10],
  56: [7, 9, 10, 11],
  64: [9, 10, 11, 12],
  96: [12, 13, 14, 15],
};
const SKIPPED_BYTE = 8;

export const isNat64Length = (bits: number) => Object.hasOwn(NAT64_BYTES, bits);

const readNat64 = (address: IPv6, [, bits]: Nat64Prefix): EmbeddedIpv4 => {
  const bytes = address.toByteArray();
  const isWellFormed = bits === 96 || bytes[SKIPPED_BYTE] === 0;
  const ipv4s = isWellFormed ? [new ipaddr.IPv4(NAT64_BYTES[bits]!.map((at) => bytes[at]!))] : [];
  return { ipv4s, form: NAT64, judgeOuterToo: false };
};

/**
 * The IPv4 addresses inside an IPv6 address that carries some, or null.
 * @param nat64Prefixes those of this network's own translators; the longest match is used
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
  // In 64:ff9b:1::/48, the operator's prefix says where the IPv4 address is. In every other
  // standard form, the IPv4 addresses of both readings must be allowed.
  if (!standard || startsWith(address.parts, LOCAL_NAT64)) return own;
  const areKnown = own.ipv4s.length > 0 && standard.ipv4s.length > 0;
  return { ...standard, ipv4s: areKnown ? [...own.ipv4s, ...standard.ipv4s] : [] };
};

const findStandardForm = (address: IPv6): EmbeddedIpv4 | null => {
  const { parts } = address;
  const trailing = TRAILING_FORMS.find(({ prefix }) => startsWith(parts, prefix));
  if (trailing) return { ipv4s: [ipv4At(parts, 6)], form: trailing.form, judgeOuterToo: false };
  // RFC 8215 lets a network choose a shorter prefix, which puts the IPv4 address elsewhere.
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
