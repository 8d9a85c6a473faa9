// The address guard against an independent definition of "public", over all addresses and the edges
// of the special ranges.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAddressPolicy } from '../../../../service/src/platform/outbound/addressPolicy.ts';
import {
  BITS,
  CLOSED_IPV4,
  CLOSED_IPV6,
  EMBEDDINGS,
  METADATA,
  ipv4,
  ipv6,
  publicOracle,
  write,
  type Address,
  type Range,
} from './publicOracle.ts';

const closed = createAddressPolicy([]);

const anyIpv4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map(ipv4);
const anyIpv6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map(ipv6);
/** Most of 2^128 is never given out, so the range that is given out is tried by itself too. */
const globalIpv6 = fc.bigInt({ min: 0x2000n << 112n, max: (0x4000n << 112n) - 1n }).map(ipv6);
const within = ({ family, first, last }: Range) =>
  fc.bigInt({ min: first, max: last }).map((value): Address => ({ family, value }));
const specialRange = fc.constantFrom(...CLOSED_IPV4, ...CLOSED_IPV6);
const closedIpv4 = fc.constantFrom(...CLOSED_IPV4).chain(within);

/**
 * 0.0.0.0/24 leads nowhere; hidden in IPv6 it is spelled like ::1, or like a public address that is
 * hidden in another way.
 */
const leadsSomewhere = ({ value }: Address) => value > 255n;

/**
 * Spellings of one IPv6 address: in full, with leading zeros, in capitals, abbreviated, with its
 * end as IPv4.
 */
const spellings = (address: Address): string[] => {
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

const judged = (text: string) => (closed.judge(text).allowed ? 'public' : 'closed');

/** One expectation for all spellings: there are tens of thousands of addresses. */
const expectJudged = (address: Address, answer: 'public' | 'closed') =>
  expect(spellings(address).filter((text) => judged(text) !== answer)).toEqual([]);

const expectTheOracle = (address: Address) => {
  const answer = publicOracle(address);
  if (answer !== 'either') expectJudged(address, answer);
};

describe('the guard agrees with the registries', () => {
  it.each([
    ['any IPv4 address', anyIpv4],
    ['any IPv6 address', anyIpv6],
    ['any address where IPv6 addresses are given out', globalIpv6],
    ['any address of a special range', specialRange.chain(within)],
  ])('on %s', (_what, address) => {
    fc.assert(fc.property(address, expectTheOracle), { numRuns: 1_000 });
  });

  it.each([...CLOSED_IPV4, ...CLOSED_IPV6].map((each) => [each.name, each] as const))(
    'at both edges of %s, and one beyond',
    (_name, { family, first, last }) => {
      const edges = [first - 1n, first, last, last + 1n].filter(
        (value) => value >= 0n && value < 1n << BITS[family],
      );
      for (const value of edges) expectTheOracle({ family, value });
    },
  );

  it.each(EMBEDDINGS.map((each) => [each.name, each] as const))(
    'on a closed IPv4 address hidden as %s, which it always refuses',
    (_name, { embed }) => {
      fc.assert(
        fc.property(closedIpv4.filter(leadsSomewhere), ({ value }) =>
          expectJudged(ipv6(embed(value)), 'closed'),
        ),
        { numRuns: 200 },
      );
    },
  );

  it.each(EMBEDDINGS.map((each) => [each.name, each] as const))(
    'on any IPv4 address hidden as %s',
    (_name, { embed }) => {
      fc.assert(
        fc.property(anyIpv4, ({ value }) => expectTheOracle(ipv6(embed(value)))),
        { numRuns: 200 },
      );
    },
  );

  it('whatever zone an address names', () => {
    const zone = fc.string({ minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(specialRange.chain(within), zone, (address, name) => {
        expect(judged(`${write(address)}%${name}`)).toBe('closed');
      }),
      {
        examples: [
          [ipv6(0x5f00n << 112n), '-'],
          [ipv6((0xfe80n << 112n) | 1n), 'br-lan'],
        ],
      },
    );
  });
});

describe('ALLOWED_NETWORKS', () => {
  const opened = createAddressPolicy(['::/0']);
  const everything = createAddressPolicy(['0.0.0.0/0', '::/0', '169.254.0.0/16', '100.64.0.0/10']);

  it.each(EMBEDDINGS.map((each) => [each.name, each] as const))(
    'opens no IPv4 address hidden as %s by an IPv6 network',
    (_name, { embed }) => {
      fc.assert(
        fc.property(closedIpv4.filter(leadsSomewhere), ({ value }) => {
          const text = write(ipv6(embed(value)));
          expect({ text, ...opened.judge(text) }).toMatchObject({ text, allowed: false });
        }),
        { numRuns: 100 },
      );
    },
  );

  it.each(EMBEDDINGS.map((each) => [each.name, each] as const))(
    'never opens metadata hidden as %s',
    (_name, { embed }) => {
      for (const value of METADATA) {
        const text = write(ipv6(embed(value)));
        expect({ text, ...everything.judge(text) }).toMatchObject({ text, allowed: false });
      }
    },
  );
});
