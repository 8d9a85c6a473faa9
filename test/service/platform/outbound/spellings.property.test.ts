// The many ways to write one address in a URL, generated; the judgement must not depend on the
// spelling.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OutboundClient } from '../../../../service/src/platform/outbound/outboundClient.ts';
import { localClient, refusalOf } from './support.ts';
import {
  CLOSED_IPV6,
  EMBEDDINGS,
  anyIpv4,
  closedIpv4,
  globalIpv6,
  ipv6,
  publicOracle,
  spellings,
  within,
  write,
  type Address,
} from './publicOracle.ts';

let client: OutboundClient;
let asked: string[];
beforeAll(async () => {
  asked = [];
  client = await localClient({
    allowedNetworks: [],
    resolver: async (name) => {
      asked.push(name);
      throw Object.assign(new Error('no names here'), { code: 'ENOTFOUND' });
    },
  });
});
afterAll(() => client.close());

const someIpv4 = fc.oneof(anyIpv4, closedIpv4);
const someIpv6 = fc.oneof(
  globalIpv6,
  fc.constantFrom(...CLOSED_IPV6).chain(within),
  fc
    .tuple(someIpv4, fc.constantFrom(...EMBEDDINGS))
    .map(([{ value }, { embed }]) => ipv6(embed(value))),
);

const BASES: readonly ((value: number) => string)[] = [
  (value) => String(value),
  (value) => `0x${value.toString(16)}`,
  (value) => `0X${value.toString(16).toUpperCase()}`,
  (value) => `0x0000${value.toString(16)}`,
  (value) => `0${value.toString(8)}`,
  (value) => `000${value.toString(8)}`,
];

/** One to four parts, each in a base of its own; the last part holds what is left. */
const numericHosts = fc
  .tuple(
    someIpv4,
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.constantFrom(...BASES), { minLength: 4, maxLength: 4 }),
  )
  .map(([address, count, bases]) => {
    const octets = write(address).split('.').map(Number);
    const last = octets.slice(count - 1).reduce((sum, octet) => sum * 256 + octet, 0);
    return {
      address,
      host: [...octets.slice(0, count - 1), last].map((value, n) => bases[n]!(value)).join('.'),
    };
  });

const FULL_WIDTH_OFFSET = 0xff10 - 0x30;
const DISGUISES: readonly ((host: string) => string)[] = [
  (host) => host,
  (host) => `${host}.`,
  (host) =>
    host.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + FULL_WIDTH_OFFSET)),
  (host) => host.replaceAll('.', '\u3002'),
  (host) => host.replaceAll('.', '\uff0e'),
  (host) => [...host].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
  (host) => host.replace(/[0-9]/, (digit) => `%3${digit}`),
  (host) => `\u00ad${host}`, // a soft hyphen, which is dropped
];

const judgementOf = async (url: string): Promise<string> => {
  const isPublic = await client.checkTarget(url, 'ws_test').then(
    () => true,
    () => false,
  );
  // What is public is not dialled here: no test may leave this machine.
  return isPublic ? 'public' : refusalOf(client, url);
};

const expected = (address: Address) =>
  ({ public: 'public', closed: 'blocked_address', either: null })[publicOracle(address)];

describe('an address in a URL', () => {
  it('is judged the same however IPv4 is written: decimal, octal, hexadecimal, short, with a dot at the end, in full width, percent-encoded', async () => {
    await fc.assert(
      fc.asyncProperty(
        numericHosts,
        fc.constantFrom(...DISGUISES),
        async ({ address, host }, disguise) => {
          const answer = expected(address);
          const url = `https://${disguise(host)}/hook`;
          if (answer) expect({ url, is: await judgementOf(url) }).toEqual({ url, is: answer });
        },
      ),
      { numRuns: 1_500 },
    );
    expect(asked).toEqual([]); // each was recognised as an address, not taken for a name
  });

  it('is judged the same however IPv6 is written: in full, in capitals, abbreviated, with its end as IPv4', async () => {
    const spelled = someIpv6.chain((address) =>
      fc.record({ address: fc.constant(address), text: fc.constantFrom(...spellings(address)) }),
    );
    await fc.assert(
      fc.asyncProperty(spelled, async ({ address, text }) => {
        const answer = expected(address);
        const url = `https://[${text}]:8443/hook`;
        if (answer) expect({ url, is: await judgementOf(url) }).toEqual({ url, is: answer });
      }),
      { numRuns: 1_000 },
    );
    expect(asked).toEqual([]);
  });

  it('is no valid URL with a user name in front or a zone behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        numericHosts,
        fc.constantFrom('user@', 'user:password@', '1.1.1.1@', ':@', '%40@'),
        async ({ address, host }, user) => {
          const isEmpty = user === ':@'; // an empty name and password are dropped by every client
          const kind = await judgementOf(`https://${user}${host}/`);
          expect(kind).toBe(isEmpty ? (expected(address) ?? kind) : 'invalid_url');
        },
      ),
      { numRuns: 200 },
    );
    for (const zone of ['%25eth0', '%eth0', '%251', '%'])
      expect(await judgementOf(`https://[fe80::1${zone}]/`)).toBe('invalid_url');
  });

  it('is no valid URL when it is malformed or too large, and no name server is asked', async () => {
    for (const host of [
      '4294967296',
      '0x100000000',
      '256.0.0.1',
      '1.2.3.4.5',
      '1.2.3.256',
      '1.2.65536',
      '08.1.1.1',
      '[::ffff:256.0.0.1]',
      '[1::2::3]',
      '[::1',
      '::1',
    ]) {
      const kind = await judgementOf(`https://${host}/`);
      expect({ host, kind }).toEqual({ host, kind: 'invalid_url' });
    }
    expect(asked).toEqual([]);
  });
});
