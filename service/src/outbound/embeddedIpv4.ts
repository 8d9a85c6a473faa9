import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

/** What an IPv6 address that carries IPv4 addresses leads to. */
export interface EmbeddedIpv4 {
  /** Each is passed on the way, so each has to be judged; none when it cannot be told which one it is. */
  ipv4s: readonly IPv4[];
  /** How it is carried, for messages. */
  form: string;
  /** The IPv6 address is itself a place on the network (ISATAP, Teredo), so it has to be judged too. */
  judgeOuterToo: boolean;
}

type Parts = readonly number[];
const part = (parts: Parts, index: number) => parts[index] ?? 0;
const startsWith = (parts: Parts, prefix: Parts) => prefix.every((value, index) => parts[index] === value);

const toIpv4 = (high: number, low: number) => new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
const ipv4At = (parts: Parts, index: number): IPv4 => toIpv4(part(parts, index), part(parts, index + 1));
/** Teredo stores its client's address with every bit turned over (RFC 4380). */
const invertedIpv4At = (parts: Parts, index: number): IPv4 => toIpv4(part(parts, index) ^ 0xffff, part(parts, index + 1) ^ 0xffff);

// Prefixes whose last 32 bits are an IPv4 address.
const TRAILING_FORMS: readonly { form: string; prefix: Parts }[] = [
  { form: 'IPv4-mapped', prefix: [0, 0, 0, 0, 0, 0xffff] },
  { form: 'IPv4-translated', prefix: [0, 0, 0, 0, 0xffff, 0] },
  { form: 'NAT64', prefix: [0x64, 0xff9b, 0, 0, 0, 0] },
  { form: 'NAT64', prefix: [0x64, 0xff9b, 1, 0, 0, 0] },
];

const isUnspecifiedOrLoopback = (parts: Parts) => part(parts, 6) === 0 && part(parts, 7) <= 1;

/** The IPv4 addresses inside an IPv6 address that carries some, or null. */
export const findEmbeddedIpv4 = (address: IPv6): EmbeddedIpv4 | null => {
  const { parts } = address;
  const trailing = TRAILING_FORMS.find(({ prefix }) => startsWith(parts, prefix));
  if (trailing) return { ipv4s: [ipv4At(parts, 6)], form: trailing.form, judgeOuterToo: false };
  // RFC 8215 lets a network choose a shorter prefix, and with it another place for the IPv4 address.
  if (startsWith(parts, [0x64, 0xff9b, 1])) return { ipv4s: [], form: 'NAT64', judgeOuterToo: false };
  if (startsWith(parts, [0, 0, 0, 0, 0, 0]) && !isUnspecifiedOrLoopback(parts)) {
    return { ipv4s: [ipv4At(parts, 6)], form: 'IPv4-compatible', judgeOuterToo: false };
  }
  if (part(parts, 0) === 0x2002) return { ipv4s: [ipv4At(parts, 1)], form: '6to4', judgeOuterToo: false };
  if (startsWith(parts, [0x2001, 0])) {
    return { ipv4s: [invertedIpv4At(parts, 6), ipv4At(parts, 2)], form: 'Teredo', judgeOuterToo: true };
  }
  // ISATAP: interface identifier 0000:5efe or, for a globally unique address, 0200:5efe.
  if ((part(parts, 4) & 0xfdff) === 0 && part(parts, 5) === 0x5efe) {
    return { ipv4s: [ipv4At(parts, 6)], form: 'ISATAP', judgeOuterToo: true };
  }
  return null;
};
