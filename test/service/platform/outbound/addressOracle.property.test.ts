// The address guard against an independent definition of "public", over all addresses and the edges
// of the special ranges.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAddressPolicy } from '../../../../service/src/platform/outbound/addressPolicy.ts';
import {
  BITS,
  CLOSED,
  EMBEDDINGS,
  METADATA,
  anyIpv4,
  closedIpv4,
  globalIpv6,
  ipv6,
  publicOracle,
  range,
  spellings,
  within,
  write,
  type Address,
} from './publicOracle.ts';

const closed = createAddressPolicy([]);

const special = fc.constantFrom(...CLOSED).chain(within);

/**
 * 0.0.0.0/24 leads nowhere; hidden in IPv6 it is spelled like ::1, or like a public address that is
 * hidden in another way.
 */
const leadsSomewhere = ({ value }: Address) => value > 255n;

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
    ['any IPv6 address', within(range('::/0'))],
    // Most of 2^128 is never given out.
    ['any address where IPv6 addresses are given out', globalIpv6],
    ['any address of a special range', special],
  ])('on %s', (_what, address) => {
    fc.assert(fc.property(address, expectTheOracle), { numRuns: 1_000 });
  });

  it.each(CLOSED)('at both edges of $name, and one beyond', ({ family, first, last }) => {
    const edges = [first - 1n, first, last, last + 1n].filter(
      (value) => value >= 0n && value < 1n << BITS[family],
    );
    for (const value of edges) expectTheOracle({ family, value });
  });

  it.each(EMBEDDINGS)(
    'on a closed IPv4 address hidden as $name, which it always refuses',
    ({ embed }) => {
      fc.assert(
        fc.property(closedIpv4.filter(leadsSomewhere), ({ value }) =>
          expectJudged(ipv6(embed(value)), 'closed'),
        ),
        { numRuns: 200 },
      );
    },
  );

  it.each(EMBEDDINGS)('on any IPv4 address hidden as $name', ({ embed }) => {
    fc.assert(
      fc.property(anyIpv4, ({ value }) => expectTheOracle(ipv6(embed(value)))),
      { numRuns: 200 },
    );
  });

  it('whatever zone an address names', () => {
    const zone = fc.string({ minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(special, zone, (address, name) => {
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

  it.each(EMBEDDINGS)('opens no IPv4 address hidden as $name by an IPv6 network', ({ embed }) => {
    fc.assert(
      fc.property(closedIpv4.filter(leadsSomewhere), ({ value }) => {
        const text = write(ipv6(embed(value)));
        expect({ text, ...opened.judge(text) }).toMatchObject({ text, allowed: false });
      }),
      { numRuns: 100 },
    );
  });

  it.each(EMBEDDINGS)('never opens metadata hidden as $name', ({ embed }) => {
    for (const value of METADATA) {
      const text = write(ipv6(embed(value)));
      expect({ text, ...everything.judge(text) }).toMatchObject({ text, allowed: false });
    }
  });
});
