import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postFrom } from '../../../helpers/postFrom.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

/** Every address of 127.0.0.0/8 is this machine's: a peer may have any. */
const PROXY = '127.0.0.2';
const SECOND_PROXY = '127.0.0.3';
const STRANGER = '127.0.0.9';

// An ADDRESS_BUDGET of 0.05 is 3 new chats.
describe('the visitor’s address, with a budget of 3 new chats for each', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      env: { ADDRESS_BUDGET: '0.05', TRUSTED_PROXIES: `${PROXY}/32,${SECOND_PROXY}/32` },
    });
  });
  afterAll(() => service?.stop());

  const arrive = (peer: string, forwardedFor?: string) =>
    postFrom(peer, `${service.url}/api/chat/sessions`, { forwardedFor });
  const arriveAll = async (peer: string, addresses: readonly (string | undefined)[]) => {
    const statuses: number[] = [];
    for (const address of addresses) statuses.push(await arrive(peer, address));
    return statuses;
  };

  it('is what a trusted proxy names', async () => {
    expect(await arriveAll(PROXY, Array(4).fill('192.0.2.1'))).toEqual([201, 201, 201, 429]);
    expect(await arriveAll(PROXY, ['192.0.2.2', '192.0.2.3'])).toEqual([201, 201]);
    expect(await arrive(SECOND_PROXY, '192.0.2.1')).toBe(429);
  });

  it('is the peer’s own where a stranger sends the header, whatever it names', async () => {
    const named = [1, 2, 3, 4].map((n) => `198.51.100.${n}`);
    expect(await arriveAll(STRANGER, [...named, undefined])).toEqual([201, 201, 201, 429, 429]);
    // An address that a stranger only claimed is not locked out.
    expect(await arrive(PROXY, '198.51.100.1')).toBe(201);
  });

  it('is the last named address that is not a trusted proxy’s: those before it are ignored', async () => {
    const spoofed = [1, 2, 3, 4].map((n) => `203.0.113.${n}, 192.0.2.10`);
    expect(await arriveAll(PROXY, spoofed)).toEqual([201, 201, 201, 429]);
    const pretended = [1, 2, 3, 4].map((n) => `203.0.113.${n}, ${PROXY}, 192.0.2.11`);
    expect(await arriveAll(PROXY, pretended)).toEqual([201, 201, 201, 429]);
    const throughBoth = [1, 2, 3, 4].map((n) => `203.0.113.${n}, 192.0.2.12, ${SECOND_PROXY}`);
    expect(await arriveAll(PROXY, throughBoth)).toEqual([201, 201, 201, 429]);
  });

  it('is the same whatever port a proxy names with it, and one for an IPv6 network', async () => {
    const ipv4 = ['192.0.2.20:1111', '192.0.2.20:2222', '192.0.2.20', '192.0.2.20:3333'];
    expect(await arriveAll(PROXY, ipv4)).toEqual([201, 201, 201, 429]);
    const ipv6 = ['[2001:db8::1]:1111', '[2001:db8::2]:2222', '2001:db8::3', '[2001:db8::4]'];
    expect(await arriveAll(PROXY, ipv6)).toEqual([201, 201, 201, 429]);
  });

  it('is the proxy’s own when the proxy names none', async () => {
    expect(await arriveAll(SECOND_PROXY, Array(4).fill(undefined))).toEqual([201, 201, 201, 429]);
  });

  it('is the peer’s own on loopback too, whatever it names, when only other proxies are trusted', async () => {
    const named = [1, 2, 3, 4].map((n) => `192.0.2.3${n}`);
    expect(await arriveAll('127.0.0.1', named)).toEqual([201, 201, 201, 429]);
  });
});

describe('wrong passwords', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env: { TRUSTED_PROXIES: `${PROXY}/32` } });
  });
  afterAll(() => service?.stop());

  const tryFrom = async (peer: string, addresses: readonly string[], email: string) => {
    const form = { email, password: 'not the one' };
    const statuses: number[] = [];
    for (const forwardedFor of addresses)
      statuses.push(await postFrom(peer, `${service.url}/sign-in`, { forwardedFor, form }));
    return statuses;
  };
  const SHUT_OUT = [...Array(10).fill(401), 429];
  const eleven = (address: (n: number) => string) =>
    Array.from({ length: 11 }, (_, n) => address(n + 1));

  it('of a stranger who names another address each time lock the stranger out', async () => {
    const named = eleven((n) => `198.51.100.${n}`);
    expect(await tryFrom(STRANGER, named, 'a@example.com')).toEqual(SHUT_OUT);
    expect(await tryFrom(PROXY, ['198.51.100.6'], 'a@example.com')).toEqual([401]);
  });

  it('through a proxy count against the visitor, and against all addresses of an IPv6 network together', async () => {
    const spoofed = eleven((n) => `203.0.113.${n}, 192.0.2.1`);
    expect(await tryFrom(PROXY, spoofed, 'b@example.com')).toEqual(SHUT_OUT);
    expect(await tryFrom(PROXY, ['192.0.2.2'], 'b@example.com')).toEqual([401]);
    const ofOneNetwork = eleven((n) => `2001:db8:1:1::${n}`);
    expect(await tryFrom(PROXY, ofOneNetwork, 'c@example.com')).toEqual(SHUT_OUT);
  });
});
