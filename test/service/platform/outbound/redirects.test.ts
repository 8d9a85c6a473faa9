import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OutboundClient } from '../../../../service/src/platform/outbound/outboundClient.ts';
import { startTlsReceiver, type ReceivedRequest, type TlsReceiver } from '../../../helpers/tls.ts';
import {
  closing,
  delivery,
  failureOf,
  kindOf,
  localClient,
  startRepeatingServer,
  toolCall,
} from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

/** Redirects /<status>?to=<location> and answers everything else with 200. */
const startRedirector = () =>
  startTlsReceiver((received, res) => {
    const url = new URL(received.path, 'https://localhost');
    const location = url.searchParams.get('to');
    if (location === null) return void res.end('arrived');
    res.writeHead(Number(url.pathname.slice(1)), { location }).end('elsewhere');
  });

let client: OutboundClient;
let here: TlsReceiver;
let there: TlsReceiver;
beforeEach(async () => {
  client = add(await localClient());
  here = add(await startRedirector());
  there = add(await startRedirector());
});

const redirect = (status: number, to: string) =>
  `${here.url}/${status}?to=${encodeURIComponent(to)}`;
const get = (url: string) =>
  toolCall(url, {
    method: 'GET',
    body: undefined,
    maxRedirects: 5,
    headers: {
      accept: 'application/json',
      'accept-language': 'en',
      authorization: 'Bearer s3cret',
      'x-api-key': 's3cret',
      cookie: 's3cret',
    },
  });
const post = (url: string) => ({
  ...get(url),
  method: 'POST',
  body: '{"a":1}',
  headers: { ...get(url).headers, 'content-type': 'application/json' },
});
const last = (receiver: TlsReceiver): ReceivedRequest => receiver.requests.at(-1)!;

describe('without maxRedirects', () => {
  it.each([301, 302, 303, 307, 308])('a %i is a response like any other', async (status) => {
    const response = await client.request(delivery(redirect(status, there.url)));
    expect(response).toMatchObject({ status, cut: false });
    expect(response.headers['location']).toBe(there.url);
    expect(there.acceptedSockets).toBe(0);
  });
});

describe('on the same origin', () => {
  it.each([301, 302, 303, 307, 308])('a GET follows a %i with its headers', async (status) => {
    const response = await client.request(get(redirect(status, '/next?x=1')));
    expect(response.body.toString()).toBe('arrived');
    expect(last(here)).toMatchObject({ method: 'GET', path: '/next?x=1' });
    expect(last(here).headers).toMatchObject({
      authorization: 'Bearer s3cret',
      'x-api-key': 's3cret',
    });
  });

  it.each([301, 302, 303])('a POST becomes a GET without body after a %i', async (status) => {
    await client.request(post(redirect(status, '/next')));
    expect(last(here).method).toBe('GET');
    expect(last(here).rawBody).toHaveLength(0);
    expect(last(here).headers['content-type']).toBeUndefined();
  });

  it.each([307, 308])('a POST keeps method and body after a %i', async (status) => {
    await client.request(post(redirect(status, '/next')));
    expect(last(here)).toMatchObject({ method: 'POST', path: '/next' });
    expect(last(here).rawBody.toString()).toBe('{"a":1}');
  });
});

describe('to another origin', () => {
  it.each([301, 302, 303, 307, 308])(
    'a GET follows a %i with nothing but content negotiation',
    async (status) => {
      const response = await client.request(get(redirect(status, `${there.url}/next`)));
      expect(response.body.toString()).toBe('arrived');
      const { host, connection, ...headers } = last(there).headers;
      expect(headers).toEqual({ accept: 'application/json', 'accept-language': 'en' });
      expect([host, connection]).toEqual([`localhost:${there.port}`, 'keep-alive']);
    },
  );

  it('headers stay dropped when a later redirect leads back', async () => {
    const back = encodeURIComponent(`${here.url}/back`);
    await client.request(get(redirect(302, `${there.url}/302?to=${back}`)));
    expect(last(here).path).toBe('/back');
    expect(last(here).headers.authorization).toBeUndefined();
  });

  it.each([307, 308])('a body is not sent again after a %i', async (status) => {
    expect(await kindOf(client.request(post(redirect(status, there.url))))).toBe('redirect');
    expect(there.acceptedSockets).toBe(0);
  });

  it('a DELETE without body is not sent again after a 307', async () => {
    const call = { ...get(redirect(307, there.url)), method: 'DELETE' };
    expect(await kindOf(client.request(call))).toBe('redirect');
    expect(there.acceptedSockets).toBe(0);
  });

  it('a POST becomes a GET without body or headers after a 303', async () => {
    await client.request(post(redirect(303, there.url)));
    expect(last(there).method).toBe('GET');
    expect(last(there).headers.authorization).toBeUndefined();
  });
});

describe('each hop is checked', () => {
  it.each([
    ['https://169.254.169.254/latest/meta-data/', 'blocked_address'],
    ['http://169.254.169.254/latest/meta-data/', 'redirect'],
    ['http://localhost/', 'redirect'],
    ['//[fd00:ec2::254]/', 'blocked_address'],
    ['https://10.0.0.1/', 'blocked_address'],
    ['https://2130706434.:1/', 'network'],
    ['https://user:password@localhost/', 'invalid_url'],
    ['ftp://localhost/', 'redirect'],
    ['file:///etc/passwd', 'redirect'],
    ['https://', 'redirect'],
  ])('a redirect to %s ends as %s', async (location, kind) => {
    const failure = await failureOf(client.request(get(redirect(302, location))));
    expect(failure.kind).toBe(kind);
    if (kind !== 'network') expect(failure.message).toMatch(/redirect/);
  });

  it('a refused host is said to come from a redirect, even if its name has that word', async () => {
    const resolver = async (hostname: string) =>
      hostname === 'localhost' ? ['127.0.0.1'] : ['10.1.1.1'];
    client = add(await localClient({ resolver }));
    const call = get(redirect(302, 'https://redirect.example/'));
    const failure = await failureOf(client.request(call));
    expect(failure.kind).toBe('blocked_address');
    expect(failure.message).toBe(
      `After a redirect from localhost:${here.port}: redirect.example may not be called: its name leads to a private address.`,
    );
  });

  it('from https to http is not followed, even where http is allowed', async () => {
    client = add(await localClient({ insecureTargets: true }));
    const call = get(redirect(302, 'http://127.0.0.1:9/'));
    expect(await kindOf(client.request(call))).toBe('redirect');
  });
});

describe('limits', () => {
  const chain = (length: number): string =>
    length === 0 ? '/end' : `/302?to=${encodeURIComponent(chain(length - 1))}`;

  it('follows five redirects and not a sixth', async () => {
    expect((await client.request(get(here.url + chain(5)))).body.toString()).toBe('arrived');
    const failure = await failureOf(client.request(get(here.url + chain(6))));
    expect(failure.kind).toBe('redirect');
    expect(here.requests).toHaveLength(6 + 6);
  });

  it('has one deadline for all hops', async () => {
    const server = add(
      await startTlsReceiver((_received, res) => {
        setTimeout(() => res.writeHead(302, { location: '/again' }).end(), 100);
      }),
    );
    const call = { ...get(server.url), maxRedirects: 50, timeoutMs: 350 };
    const failure = await failureOf(client.request(call));
    expect(failure.kind).toBe('timeout');
    expect(failure.message).toContain('within 350 ms');
    expect(server.requests.length).toBeLessThan(6);
  });

  it('does not wait for the body of a redirect that floods', async () => {
    const head = `HTTP/1.1 302 Found\r\nLocation: ${there.url}/next\r\n\r\n`;
    const flooding = add(await startRepeatingServer(head, Buffer.alloc(64 * 1024), 1));
    expect((await client.request(get(flooding.url))).body.toString()).toBe('arrived');
  });

  it('returns a redirect without Location as it is', async () => {
    const receiver = add(await startTlsReceiver((_received, res) => res.writeHead(302).end('x')));
    expect(await client.request(get(receiver.url))).toMatchObject({ status: 302, cut: false });
  });
});
