import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAddressPolicy } from '../../../../service/src/platform/outbound/addressPolicy.ts';
import {
  EMBEDDINGS,
  anyIpv4,
  closedIpv4,
  ipv6,
  range,
  readIpv4,
  spellings,
  within,
  write,
} from './publicOracle.ts';

const closed = createAddressPolicy([]);
const isAllowed = (address: string, allowedNetworks: string[] = []) =>
  createAddressPolicy(allowedNetworks).judge(address).allowed;
const reasonFor = (address: string) => {
  const verdict = closed.judge(address);
  return verdict.allowed ? null : verdict.reason;
};

/** Forms that do not lead to the IPv4 address in them, or only when NAT64_PREFIXES says so. */
const LEADS_ELSEWHERE = /^Teredo|^local NAT64 \//;
/** Every spelling of every form that leads to 10.1.2.3. */
const WRAPPED = EMBEDDINGS.filter(({ name }) => !LEADS_ELSEWHERE.test(name)).flatMap(({ embed }) =>
  spellings(ipv6(embed(readIpv4('10.1.2.3')))),
);

describe('public addresses', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '172.15.255.255',
    '172.32.0.1',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ])('allows %s', (address) =>
    expect(closed.judge(address)).toEqual({ allowed: true, opened: false }),
  );
});

describe('addresses that are not public', () => {
  it.each([
    ['127.0.0.1', 'a loopback address'],
    ['127.255.255.254', 'a loopback address'],
    ['0.0.0.0', 'an unspecified address'],
    ['0.1.2.3', 'an unspecified address'],
    ['10.0.0.1', 'a private address'],
    ['172.31.255.255', 'a private address'],
    ['192.168.1.1', 'a private address'],
    ['100.64.0.1', 'a carrier-grade NAT address'],
    ['169.254.0.1', 'a link-local address'],
    ['224.0.0.1', 'a multicast address'],
    ['255.255.255.255', 'the broadcast address'],
    ['198.18.0.1', 'an address reserved for documentation, tests or the future'],
    ['203.0.113.7', 'an address reserved for documentation, tests or the future'],
    ['::', 'an unspecified address'],
    ['::1', 'a loopback address'],
    ['fe80::1', 'a link-local address'],
    ['fe80::1%eth0', 'a link-local address'],
    ['fc00::1', 'a private (unique local) address'],
    ['fd12:3456::1', 'a private (unique local) address'],
    ['fec0::1', 'not a public address (deprecatedSiteLocal)'],
    ['ff02::1', 'a multicast address'],
    ['100::1', 'not a public address (discard)'],
    ['2001:db8::1', 'an address reserved for documentation, tests or the future'],
    ['3fff::1', 'an address reserved for documentation, tests or the future'],
    ['2001:0:808:808::f7f7:f7f7', 'not a public address (teredo)'],
    ['2001::f5ff:fffe', 'Teredo for 10.0.0.1, a private address'],
    ['2001:0:a00:1::f7f7:f7f7', 'Teredo for 10.0.0.1, a private address'],
    ['2001:2::1', 'an address reserved for benchmarks'],
    ['1::1', 'not a public address (outside 2000::/3)'],
    ['4000::1', 'not a public address (outside 2000::/3)'],
    ['64:ff9b:1:a00:1:200::', 'NAT64 for an IPv4 address that cannot be determined'],
    ['::ffff:127.0.0.1', 'IPv4-mapped for 127.0.0.1, a loopback address'],
    ['::7f00:1', 'IPv4-compatible for 127.0.0.1, a loopback address'],
    ['64:ff9b::a00:1', 'NAT64 for 10.0.0.1, a private address'],
    ['2002:c0a8:101::1', '6to4 for 192.168.1.1, a private address'],
    ['not an address', 'not an IP address'],
    ['127.1', 'not an IP address'],
  ])('refuses %s as %s', (address, reason) => expect(reasonFor(address)).toBe(reason));

  it('never throws, whatever text it is asked about', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => void closed.judge(text)),
    );
  });
});

describe('public IPv4 addresses inside IPv6', () => {
  it('are refused in ISATAP form behind a prefix that is not public', () => {
    expect(isAllowed('fe80::5efe:808:808')).toBe(false);
    expect(isAllowed('fd00::200:5efe:808:808')).toBe(false);
  });
});

describe('ALLOWED_NETWORKS', () => {
  it('opens exactly the range it names', () => {
    fc.assert(
      fc.property(within(range('10.20.0.0/16')), closedIpv4, (inside, other) => {
        const policy = createAddressPolicy(['10.20.0.0/16']);
        expect(policy.judge(write(inside))).toEqual({ allowed: true, opened: true });
        expect(policy.judge(write(other)).allowed).toBe(write(other).startsWith('10.20.'));
      }),
      { numRuns: 300 },
    );
  });

  it('opens an IPv4 range in every wrapper too, and ::1 with 127.0.0.0/8', () => {
    const notOpened = WRAPPED.filter((address) => !isAllowed(address, ['10.0.0.0/8']));
    expect(notOpened).toEqual([]);
    expect(isAllowed('::1', ['127.0.0.0/8'])).toBe(true);
    expect(isAllowed('::1', ['0.0.0.0/0'])).toBe(true);
    expect(isAllowed('::1', ['127.0.0.0/16'])).toBe(false);
    expect(isAllowed('::1', ['10.0.0.0/8'])).toBe(false);
    expect(isAllowed('127.0.0.1', ['::1/128'])).toBe(false);
  });

  it('opens no IPv4 address by an IPv6 range that covers its wrapper', () => {
    expect(WRAPPED.filter((address) => isAllowed(address, ['::/0']))).toEqual([]);
    expect(isAllowed('fd12::1', ['::/0'])).toBe(true);
  });

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '100.96.0.96',
    '100.80.80.80',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:100::100:200',
    'fd00:a9fe:a9fe::1',
    'fe80::a9fe:a9fe',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::a9fe:a9fe',
  ])('never opens metadata: %s', (address) => {
    const everything = [
      '0.0.0.0/0',
      '::/0',
      '169.254.0.0/16',
      '100.64.0.0/10',
      'fd00::/8',
      `${address.includes(':') ? 'fd00:ec2::/32' : address + '/32'}`,
    ];
    expect(createAddressPolicy(everything).judge(address)).toMatchObject({ allowed: false });
    expect(reasonFor(address)).toContain('metadata');
  });

  it('never opens the unspecified address', () => {
    expect(isAllowed('0.0.0.0', ['0.0.0.0/0'])).toBe(false);
    expect(isAllowed('::', ['::/0', '0.0.0.0/0'])).toBe(false);
  });

  it.each(['10.0.0.0', '10.0.0.0/33', 'localhost', '', 'fd00::/129'])(
    'refuses %p, which is no network',
    (cidr) => {
      expect(() => createAddressPolicy([cidr])).toThrow(/CIDR/);
    },
  );
});

describe('NAT64_PREFIXES', () => {
  const publicIpv4 = anyIpv4.filter((address) => closed.judge(write(address)).allowed);
  const PREFIX = 0x2001_0db8_0122_0344_0000_0011_0000_0000n;
  const BITS = [32, 40, 48, 56, 64, 96] as const;

  const firstOf = (bits: number) => (PREFIX >> BigInt(128 - bits)) << BigInt(128 - bits);
  /** RFC 6052, 2.2, told in bits: the address follows the prefix, and bits 64 to 71 stay empty. */
  const embed = (bits: number, inside: bigint) => {
    if (bits === 96) return firstOf(bits) | inside;
    const tail = inside << BigInt(96 - bits); // as if nothing were left empty
    const low = tail & ((1n << 64n) - 1n);
    return firstOf(bits) | (tail - low) | (low >> 8n);
  };
  const carrying = (bits: number, inside: bigint) => write(ipv6(embed(bits, inside)));
  const prefixOf = (bits: number) => `${write(ipv6(firstOf(bits)))}/${bits}`;

  it.each([
    ['2001:db8::/32', '2001:db8:c000:221::'],
    ['2001:db8:100::/40', '2001:db8:1c0:2:21::'],
    ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::'],
    ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::'],
    ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100::'],
    ['2001:db8:122:344::/96', '2001:db8:122:344::192.0.2.33'],
  ])('reads the examples of RFC 6052, 2.4: %s', (prefix, address) => {
    const verdict = createAddressPolicy([], [prefix]).judge(address);
    expect(verdict).toMatchObject({
      allowed: false,
      reason: 'NAT64 for 192.0.2.33, an address reserved for documentation, tests or the future',
    });
  });

  it.each(BITS)('of %i bits: what lies in it is judged by the IPv4 address it carries', (bits) => {
    const policy = createAddressPolicy([], [prefixOf(bits)]);
    fc.assert(
      fc.property(closedIpv4, ({ value }) =>
        expect(policy.judge(carrying(bits, value)).allowed).toBe(false),
      ),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(publicIpv4, ({ value }) =>
        expect(policy.judge(carrying(bits, value))).toEqual({ allowed: true, opened: false }),
      ),
      { numRuns: 300 },
    );
  });

  it.each(BITS)(
    'of %i bits: no IPv6 network opens what is private in it; the IPv4 network does, metadata never',
    (bits) => {
      const byIpv6 = createAddressPolicy(['::/0', prefixOf(bits)], [prefixOf(bits)]);
      const byIpv4 = createAddressPolicy(['10.0.0.0/8'], [prefixOf(bits)]);
      fc.assert(
        fc.property(within(range('10.0.0.0/8')), ({ value }) => {
          expect(byIpv6.judge(carrying(bits, value)).allowed).toBe(false);
          expect(byIpv4.judge(carrying(bits, value))).toEqual({ allowed: true, opened: true });
        }),
        { numRuns: 100 },
      );
      const all = createAddressPolicy(['0.0.0.0/0', '::/0'], [prefixOf(bits)]);
      expect(all.judge(carrying(bits, readIpv4('169.254.169.254')))).toMatchObject({
        allowed: false,
        kind: 'a cloud metadata address, which is never called',
      });
    },
  );

  it.each(BITS.filter((bits) => bits < 96))(
    'of %i bits: refuses what is not well formed there',
    (bits) => {
      const wrong = write(ipv6(embed(bits, readIpv4('8.8.8.8')) | (1n << 56n)));
      expect(createAddressPolicy(['::/0'], [prefixOf(bits)]).judge(wrong)).toMatchObject({
        allowed: false,
        reason: 'NAT64 for an IPv4 address that cannot be determined',
      });
    },
  );

  it('tells how an address in 64:ff9b:1::/48 is to be read', () => {
    const policy = createAddressPolicy([], ['64:ff9b:1::/48', '64:ff9b:1:fffe::/96']);
    expect(policy.judge('64:ff9b:1:808:8:800::')).toEqual({ allowed: true, opened: false });
    expect(policy.judge('64:ff9b:1:a00:0:100::')).toMatchObject({
      allowed: false,
      kind: 'a private address',
    });
    expect(policy.judge('64:ff9b:1:fffe::808:808')).toEqual({ allowed: true, opened: false });
    expect(policy.judge('64:ff9b:1:fffe::a00:1')).toMatchObject({
      allowed: false,
      kind: 'a private address',
    });
  });

  it.each(['::/32', '2002:808::/32', '::ffff:0:0/96', '64:ff9b::/32'])(
    'opens nothing that another form closes, even as %s',
    (prefix) => {
      const policy = createAddressPolicy([], [prefix]);
      expect(WRAPPED.filter((address) => policy.judge(address).allowed)).toEqual([]);
    },
  );

  it.each(['10.0.0.0/8', '2001:db8::/33', '2001:db8::/128', '2001:db8::', 'x'])(
    'refuses %p',
    (prefix) => {
      expect(() => createAddressPolicy([], [prefix])).toThrow(/NAT64/);
    },
  );
});
