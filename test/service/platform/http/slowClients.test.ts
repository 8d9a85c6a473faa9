// Slow clients and many clients: what they hold is released, and nobody else notices.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import { Connections } from '../../../../service/src/platform/http/server/connections.ts';
import {
  createBoundedServer,
  SERVER_LIMITS,
} from '../../../../service/src/platform/http/server/server.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../../helpers/browserless.ts';
import { readChatStream } from '../../../helpers/chatStreamReader.ts';
import { boundReached } from '../../../helpers/metrics.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../../helpers/service.ts';
import { listenTracked } from '../../../helpers/trackedServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const SOON = { headersTimeoutMs: 400, requestTimeoutMs: 1000, lookEveryMs: 100 };
/** Every address of 127.0.0.0/8 is this machine's: a peer may have any. */
const STRANGER = '127.0.0.9';

let service: TestService | undefined;
const opened: Socket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await service?.stop();
  service = undefined;
});
const start = async (options: TestServiceOptions = {}) =>
  (service = await startTestService(options));

/** A connection, and what came over it. */
interface Raw {
  readonly socket: Socket;
  received: string;
  isClosed: boolean;
}

async function open(url: string, bytes = '', localAddress = '127.0.0.1'): Promise<Raw> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress });
  opened.push(socket);
  const raw: Raw = { socket, received: '', isClosed: false };
  socket
    .on('error', () => {})
    .on('close', () => (raw.isClosed = true))
    .on('data', (data) => (raw.received += String(data)));
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return raw;
}
/** The status of the answer, once it begins. */
const answerOf = (raw: Raw) => waitFor('an answer', () => statusOf(raw));
const untilClosed = async (raws: readonly Raw[]) => {
  for (const each of raws) await waitFor('its end', () => each.isClosed);
};
const openAll = (count: number, url: string, bytes?: string, localAddress?: string) =>
  Promise.all(Array.from({ length: count }, () => open(url, bytes, localAddress)));
const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const post = (path: string, headers: string[], body: string) =>
  [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, '', body].join('\r\n');
const FORM = 'Content-Type: application/x-www-form-urlencoded';
const JSON_TYPE = 'Content-Type: application/json';
const HALF_OF_HEADERS = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ';
/** A request through a proxy, of which a part of the body has come. */
const halfSignIn = (address: string) =>
  post('/sign-in', [`X-Forwarded-For: ${address}`, FORM, 'Content-Length: 50'], 'email=');
const statusOf = ({ received }: Raw) => Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0);

describe('the time limits of a request', () => {
  it('close it with 408 when nothing, half of its headers or half of its body has come; streams go on', async () => {
    const { url } = await start({ server: SOON });
    const customer = await chatCustomer(url);
    const stream = await readChatStream(url, customer.token);
    const slow = [
      await open(url),
      await open(url, HALF_OF_HEADERS),
      await open(url, post('/sign-in', [FORM, 'Content-Length: 100'], 'email=')),
    ];
    await untilClosed(slow);
    expect(slow.map(statusOf)).toEqual([408, 408, 408]);
    expect(await boundReached(url, 'slow_requests')).toBe(3);
    await customer.write('still there');
    await waitFor('the message', () => stream.seen.length === 1);
    stream.close();
  });

  it('do not cut an answer that takes longer than a request may, nor a connection that waits for its next request', async () => {
    const reachedBounds: BoundName[] = [];
    const bounds = { reached: (bound: BoundName) => void reachedBounds.push(bound) };
    const connections = new Connections({ max: Infinity, bounds, isProxy: () => false });
    const server = createBoundedServer(
      (_request, response) => void setTimeout(() => response.end('done'), 1500),
      { connections, bounds, limits: { ...SERVER_LIMITS, ...SOON } },
    );
    const tracked = await listenTracked(server, 0, '127.0.0.1');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (let n = 0; n < 2; n++) {
        const asking = request({ port: tracked.port, host: '127.0.0.1', agent }).end();
        const [answer] = await once(asking, 'response');
        expect(await text(answer)).toBe('done');
        // Longer than nginx (60 s) and Caddy (120 s) keep their connections.
        expect(answer.headers['keep-alive']).toBe('timeout=130');
      }
      expect(tracked.acceptedSockets).toBe(1);
      expect(reachedBounds).toEqual([]);
    } finally {
      agent.destroy();
      await tracked.close();
    }
  });
});

describe('bodies', () => {
  it('that are too large for a form of strangers are refused before they are read, or while they come if their length is not told', async () => {
    const { url } = await start();
    const told = await openAll(
      200,
      url,
      post('/sign-in', [FORM, 'Content-Length: 262144'], `email=${'x'.repeat(100_000)}`),
    );
    for (const each of told) expect(await answerOf(each)).toBe(413);
    const chunks = `${(8000).toString(16)}\r\n${'x'.repeat(8000)}\r\n`.repeat(3);
    const untold = await openAll(
      50,
      url,
      post('/join', [FORM, 'Transfer-Encoding: chunked'], chunks),
    );
    for (const each of untold) expect(await answerOf(each)).toBe(413);
    // The clients have time to read the answer; then the connections end, though they sent no more.
    await untilClosed([...told, ...untold]);
  });

  it('that do not end take half of the room for bodies, and no longer than a request may; others are served', async () => {
    const { url } = await start({
      // On a busy machine all 40 MB take seconds to arrive.
      server: { requestTimeoutMs: 12_000, headersTimeoutMs: 12_000, lookEveryMs: 100 },
    });
    const attacker = ['X-Forwarded-For: 192.0.2.1', JSON_TYPE, 'Content-Length: 262144'];
    // 40 MB, of which 32 find room.
    const all = await openAll(170, url, post('/api/chat/sessions', attacker, 'x'.repeat(240_000)));
    await waitFor(
      'the last ones to be refused',
      () => all.filter((each) => statusOf(each) === 503).length >= 30,
    );
    const customer = await chatCustomer(url);
    await customer.write('x'.repeat(4000));
    expect((await service!.api.post('/api/hooks', {})).status).toBe(400);
    expect(await boundReached(url, 'bodies')).toBeGreaterThanOrEqual(30);
    await untilClosed(all);
    const statuses = all.map(statusOf);
    expect(new Set(statuses)).toEqual(new Set([408, 503]));
    expect(statuses.filter((status) => status === 408).length).toBeLessThanOrEqual(140);
    // And there is room again.
    const again = await openAll(10, url, post('/api/chat/sessions', attacker, 'x'.repeat(240_000)));
    await customer.write('another');
    expect(again.filter((each) => statusOf(each) !== 0)).toEqual([]);
  });

  it('that are compressed are refused; a connection that sent all of its body stays open for the next request', async () => {
    const { url, apiKey } = await start();
    const compressed = [JSON_TYPE, 'Content-Encoding: gzip', 'Content-Length: 2'];
    const headers = [`Authorization: Bearer ${apiKey}`, ...compressed];
    const raw = await open(url, post('/api/hooks', headers, '{}'));
    await waitFor('its answer', () => raw.received.includes('"unsupported_media_type"'));
    expect(statusOf(raw)).toBe(415);
    // Longer than a client may go on sending a refused body.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    raw.received = '';
    raw.socket.write(get('/healthz'));
    expect(await answerOf(raw)).toBe(200);
  });
});

describe('connections', () => {
  // 10 connections for each address.
  const FEW = { TRUSTED_PROXIES: '127.0.0.2/32', ADDRESS_BUDGET: '0.05' };

  it('of one address are 10 with this budget; those beyond are told so and closed, and others are served', async () => {
    const { url } = await start({ env: FEW });
    const held = await openAll(10, url, '', STRANGER);
    const more = await open(url, '', STRANGER);
    await untilClosed([more]);
    expect(more.received).toMatch(/^HTTP\/1\.1 429 .*Retry-After: 10\r\n.*"rate_limited"/s);
    expect(held.some(({ isClosed }) => isClosed)).toBe(false);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    held[0]!.socket.destroy();
    await waitFor('room', async () => {
      const next = await open(url, get('/healthz'), STRANGER);
      return (await answerOf(next)) === 200;
    });
  });

  it('that showed an API key no longer count', async () => {
    const { url, apiKey } = await start({ env: FEW });
    for (let n = 0; n < 15; n++) {
      const asking = get('/api/hooks/events', `Authorization: Bearer ${apiKey}`);
      expect(await answerOf(await open(url, asking, STRANGER))).toBe(200);
    }
    expect(opened.filter((socket) => !socket.destroyed)).toHaveLength(15);
  });

  it('of a proxy count by the address that it names, one for each request under way', async () => {
    const { url, apiKey } = await start({ env: FEW });
    const held = await openAll(10, url, halfSignIn('192.0.2.1'), '127.0.0.2');
    const more = await open(url, halfSignIn('192.0.2.1'), '127.0.0.2');
    await answerOf(more);
    expect(more.received).toMatch(
      /^HTTP\/1\.1 429 .*(?:"rate_limited"|<p role="alert">Too many requests from one address)/s,
    );
    const ask = async (address: string, key?: string) => {
      const outgoing = request(`${url}/api/hooks/events`, {
        localAddress: '127.0.0.2',
        agent: false,
        headers: {
          'x-forwarded-for': address,
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
      });
      outgoing.end();
      const [answer] = await once(outgoing, 'response');
      await text(answer);
      return answer.statusCode as number;
    };
    expect(await ask('192.0.2.2', apiKey)).toBe(200);
    expect(held.map(statusOf)).toEqual(Array(10).fill(0));
    for (const each of held) each.socket.destroy();
    await waitFor('room', async () => (await ask('192.0.2.1')) === 401);
  });

  it('that send many requests and wait for no answer are closed; ten at once are answered in order', async () => {
    const { url } = await start();
    const { token } = await chatCustomer(url);
    const ask = (path: string) => get(path, `Authorization: Bearer ${token}`);
    const ten = await open(url, ask('/healthz').repeat(9) + ask('/api/chat/messages'));
    await waitFor('all answers', () => ten.received.split('HTTP/1.1 200').length === 11);
    expect(ten.received).toMatch(/"alive".*"data":\[\]/s);
    ten.socket.write(ask('/healthz'));
    await waitFor('one more', () => ten.received.split('HTTP/1.1 200').length === 12);
    await untilClosed([
      await open(url, ask('/api/chat/stream') + ask('/healthz').repeat(500)),
      await open(url, ask('/api/chat/messages').repeat(500)),
    ]);
    expect(await boundReached(url, 'pipelined_requests')).toBe(2);
  });

  it('that send no HTTP behind their requests are closed, without a refusal inside an answer that has begun', async () => {
    const { url } = await start();
    const { token } = await chatCustomer(url);
    const ask = (path: string) => get(path, `Authorization: Bearer ${token}`);
    const stream = await open(url, ask('/api/chat/stream'));
    expect(await answerOf(stream)).toBe(200);
    stream.socket.write(`${ask('/api/chat/messages')}no HTTP\r\n\r\n`);
    await untilClosed([stream]);
    expect(stream.received.split('HTTP/1.1 ')).toHaveLength(2);
  });

  it('at the total limit make room for an address that has few, at the cost of the one that has the most', async () => {
    const { url } = await start({
      env: { ...FEW, ADDRESS_BUDGET: '0.45' },
      server: { maxConnections: 100 },
    });
    const few = await openAll(9, url, HALF_OF_HEADERS, '127.0.0.10');
    const most = await openAll(90, url, HALF_OF_HEADERS, STRANGER);
    for (let n = 20; n < 40; n++)
      expect(await answerOf(await open(url, get('/healthz'), `127.0.0.${n}`))).toBe(200);
    expect(few.filter(({ isClosed }) => isClosed)).toEqual([]);
    expect(most.filter(({ isClosed }) => isClosed).length).toBeGreaterThanOrEqual(20);
  });

  it('that a proxy brings make room too, at the cost of the address with the most requests under way', async () => {
    const { url } = await start({
      env: { ...FEW, ADDRESS_BUDGET: '0.45' },
      server: { maxConnections: 100 },
    });
    const few = await openAll(9, url, halfSignIn('192.0.2.1'), '127.0.0.2');
    const most = await openAll(90, url, halfSignIn('192.0.2.2'), '127.0.0.2');
    for (let n = 20; n < 40; n++) {
      const asking = get('/healthz', `X-Forwarded-For: 192.0.2.${n}`);
      expect(await answerOf(await open(url, asking, '127.0.0.2'))).toBe(200);
    }
    expect(few.filter(({ isClosed }) => isClosed)).toEqual([]);
    expect(most.filter(({ isClosed }) => isClosed).length).toBeGreaterThanOrEqual(19);
  });

  it('have a total limit; idle ones make room for new ones', async () => {
    const { url } = await start({ server: { maxConnections: 20 } });
    const idle = await openAll(20, url, get('/healthz'));
    for (const each of idle) expect(await answerOf(each)).toBe(200);
    await waitFor('a place', async () => {
      const next = await open(url, get('/healthz', 'Connection: close')).catch(() => null);
      await waitFor('an end', () => next === null || next.isClosed);
      return next !== null && statusOf(next) === 200;
    });
    expect(await boundReached(url, 'connections')).toBeGreaterThan(0);
  });
});

describe('live pages of the team', () => {
  it('are 20 for each member: the oldest ends, and is told to come back a minute later', async () => {
    const { url } = await start({ env: MEMBER_ENV });
    const { cookie } = await signedInBrowser(url);
    const openPage = () => open(url, get('/live', `Cookie: ${cookie}`));
    const oldest = await openPage();
    const others: Raw[] = [];
    for (let n = 0; n < 20; n++) others.push(await openPage());
    for (const page of [oldest, ...others])
      await waitFor('it to begin', () => page.received.includes('retry: 1000'));
    await waitFor('the oldest to end', () => /retry: 60000.*\r\n0\r\n\r\n$/s.test(oldest.received));
    await (await chatCustomer(url)).write('Hello');
    for (const page of others)
      await waitFor('the change', () => page.received.includes('event: conversations'));
    expect(oldest.received).not.toContain('event: conversations');
  });
});
