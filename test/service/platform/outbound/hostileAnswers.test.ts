import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type {
  OutboundClient,
  OutboundErrorKind,
} from '../../../../service/src/platform/outbound/outboundClient.ts';
import { startTlsReceiver } from '../../../helpers/tls.ts';
import {
  closing,
  delivery,
  failureOf,
  kindOf,
  localClient,
  startRawTlsServer,
  startRepeatingServer,
  startTcpServer,
  toolCall,
  until,
  type RawServer,
} from './support.ts';

const { add, closeAll } = closing();
let client: OutboundClient;
beforeEach(async () => {
  client = add(await localClient());
});
afterEach(closeAll);

const MIB = 1024 * 1024;
const BRIEF_MS = 250;
// Long enough for a connection and headers on a busy machine.
const BODY_MS = 700;
/** Longer than any test, so that the answer ends the request and not the time-out. */
const NEVER_MS = 60_000;

/** A TLS server, closed after the test. @param onRequest what it does once it has received something */
const serving = async (onRequest: (socket: TLSSocket) => void) =>
  add(await startRawTlsServer(onRequest));

/** A server that answers with these bytes and leaves the connection open. */
const answering = (...parts: (string | Buffer)[]) =>
  serving((socket) => parts.forEach((part) => socket.write(part)));

/** A server that answers with the head, and then with these bytes again and again. */
const repeating = async (...answer: Parameters<typeof startRepeatingServer>) =>
  add(await startRepeatingServer(...answer));

describe('no answer in time', () => {
  const brief = (url: string) => delivery(url, { timeoutMs: BRIEF_MS });

  it('a server that accepts and never speaks TLS', async () => {
    const server = add(await startTcpServer());
    const failure = await failureOf(client.request(brief(server.url)));
    expect(failure.kind).toBe('timeout');
    expect(failure.message).toBe(
      `No connection to localhost:${server.port} was established within ${BRIEF_MS} ms.`,
    );
    await until(() => server.acceptedSockets === 1 && server.openSockets === 0);
  });

  it('a name server that never answers', async () => {
    client = add(await localClient({ resolver: () => new Promise(() => {}) }));
    const failure = await failureOf(client.request(brief('https://silent.example/')));
    expect(failure.message).toBe(
      `No connection to silent.example was established within ${BRIEF_MS} ms.`,
    );
  });

  it('a server that reads the request and says nothing', async () => {
    const server = await answering('HTTP/1.1 204 No Content\r\n\r\n');
    client = add(await localClient({ connectionsPerOrigin: 1 }));
    await client.request(delivery(server.url)); // so that there is a connection already
    const failure = await failureOf(client.request(brief(server.url)));
    expect(failure.kind).toBe('timeout');
    expect(failure.message).toBe(`localhost:${server.port} did not answer within ${BRIEF_MS} ms.`);
    await until(() => server.openSockets === 0);
  });

  it.each([
    ['a header that never ends', 'HTTP/1.1 200 OK\r\nX-Drip: ', 'x'],
    ['one interim answer after the other', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('%s', async (_what, first, more) => {
    const server = await repeating(first, more, 10);
    expect(await kindOf(client.request(brief(server.url)))).toBe('timeout');
    await until(() => server.openSockets === 0);
  });
});

describe('a 2xx whose body is not whole', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n';
  const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

  const hangingUp = () => serving((socket) => socket.end(`${HEAD}half`));
  const resetting = () =>
    serving((socket) => socket.write(`${HEAD}half`, () => setTimeout(() => socket.destroy(), 20)));
  const FLOOD = Buffer.alloc(64 * 1024, 'x');

  const endings: [string, OutboundErrorKind, () => Promise<RawServer>][] = [
    ['headers, then silence', 'timeout', () => answering(HEAD)],
    ['a body that hangs half-way', 'timeout', () => answering(HEAD, 'half')],
    ['an endless drip', 'timeout', () => repeating(CHUNKED, '1\r\nx\r\n', 10)],
    ['a connection closed half-way', 'network', hangingUp],
    ['a reset half-way', 'network', resetting],
    ['invalid chunks', 'network', () => answering(CHUNKED, 'zzz\r\n')],
    ['an endless flood', 'too_large', () => repeating('HTTP/1.1 200 OK\r\n\r\n', FLOOD, 1)],
  ];

  const timeoutFor = (kind: string) => (kind === 'timeout' ? BODY_MS : NEVER_MS);

  it.each(endings)('%s: is a success for a delivery', async (_what, kind, start) => {
    const server = await start();
    const timeoutMs = timeoutFor(kind);
    const response = await client.request(delivery(server.url, { timeoutMs }));
    expect(response).toMatchObject({ status: 200, cut: true });
    expect(response.body.length).toBeLessThanOrEqual(64 * 1024);
    await until(() => server.openSockets === 0);
  });

  it.each(endings)('%s: is an error (%s) for a tool call', async (_what, kind, start) => {
    const server = await start();
    const timeoutMs = timeoutFor(kind);
    const call = toolCall(server.url, { timeoutMs, maxBytes: 100_000 });
    expect(await kindOf(client.request(call))).toBe(kind);
    await until(() => server.openSockets === 0);
  });

  it('keeps exactly the allowed bytes of a body that is too large', async () => {
    const receiver = add(
      await startTlsReceiver((_received, res) => res.end('abcdefghij'.repeat(10))),
    );
    const response = await client.request(delivery(receiver.url, { maxBytes: 15 }));
    expect(response).toMatchObject({ status: 200, cut: true });
    expect(response.body.toString()).toBe('abcdefghijabcde');
    await until(() => receiver.openSockets === 0);
  });

  it('does not cut a body that is exactly as large as allowed', async () => {
    const receiver = add(await startTlsReceiver((_received, res) => res.end('12345')));
    const response = await client.request(toolCall(receiver.url, { maxBytes: 5 }));
    expect(response.cut).toBe(false);
  });

  it('keeps no more memory than the body when it comes in very many chunks', async () => {
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(200_000));
    const server = await answering(CHUNKED, chunks, '0\r\n\r\n');
    const response = await client.request(toolCall(server.url));
    expect(response.body.equals(Buffer.alloc(200_000, 'x'))).toBe(true);
    // If the body were a view of a much larger buffer, that whole buffer would stay in memory.
    expect(response.body.buffer.byteLength).toBeLessThan(2 * 200_000 + 1024);
  });
});

describe('answers that are not HTTP, or never come', () => {
  it.each([
    ['a reset after the status line', 'HTTP/1.1 200 OK\r\nX-Half: ', true],
    ['a connection closed before any answer', '', true],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', false],
    ['HTTP/2 frames', Buffer.from('000006040000000000000300000064', 'hex'), false],
    ['headers with a NUL', 'HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\n\r\n', false],
  ] as const)('%s', async (_what, bytes, hangsUp) => {
    const server = await serving((socket) => {
      if (bytes.length > 0) socket.write(bytes);
      if (hangsUp) setTimeout(() => socket.destroy(), 20);
    });
    const failure = await failureOf(client.request(delivery(server.url)));
    expect(failure.kind).toBe('network');
    expect(failure.message).toContain(`localhost:${server.port}`);
    await until(() => server.openSockets === 0);
  });

  it('10 MiB of headers', async () => {
    const line = `X-Filler: ${'x'.repeat(1000)}\r\n`;
    const server = await answering('HTTP/1.1 200 OK\r\n', line.repeat((10 * MIB) / line.length));
    const failure = await failureOf(client.request(delivery(server.url)));
    expect(failure.kind).toBe('too_large');
    expect(failure.message).toBe(
      `localhost:${server.port} answered with headers larger than 16 KiB.`,
    );
    await until(() => server.openSockets === 0);
  });

  it('nobody listens', async () => {
    const server = await startTcpServer();
    await server.close();
    const failure = await failureOf(client.request(delivery(server.url)));
    expect(failure.kind).toBe('network');
    expect(failure.message).toBe(
      `localhost:${server.port} refused the connection: nothing listens there.`,
    );
  });

  it('the bytes of invalid UTF-8 are kept', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x00, 0xed, 0xa0, 0x80]);
    const receiver = add(
      await startTlsReceiver((_received, res) => res.setHeader('x-odd', 'caf\u00e9').end(bytes)),
    );
    const response = await client.request(delivery(receiver.url));
    expect(response).toMatchObject({ status: 200, cut: false });
    expect(response.body.equals(bytes)).toBe(true);
  });
});

describe('compressed answers', () => {
  const encoders = {
    gzip: gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
  };
  const sending = async (encoding: string, bytes: Buffer) =>
    add(
      await startTlsReceiver((_received, res) =>
        res.setHeader('content-encoding', encoding).end(bytes),
      ),
    );

  it.each(Object.entries(encoders))('%s is read', async (encoding, encode) => {
    const receiver = await sending(encoding, encode(Buffer.from('{"ok":true}')));
    const response = await client.request(toolCall(receiver.url));
    expect(response.body.toString()).toBe('{"ok":true}');
    expect(response.headers['content-encoding']).toBeUndefined();
  });

  it.each(Object.keys(encoders))(
    'an empty body with the content encoding %s is read as empty',
    async (encoding) => {
      const receiver = await sending(encoding, Buffer.alloc(0));
      const { status, body } = await client.request(toolCall(receiver.url));
      expect([status, body.length]).toEqual([200, 0]);
    },
  );

  it.each(Object.entries(encoders))('a %s bomb does not go off', async (encoding, encode) => {
    const bomb = encode(Buffer.alloc(8 * MIB));
    const receiver = await sending(encoding, bomb);
    const response = await client.request(delivery(receiver.url, { maxBytes: 100_000 }));
    expect(response).toMatchObject({ status: 200, cut: true });
    expect(response.body.length).toBeLessThanOrEqual(100_000);
    const call = toolCall(receiver.url, { maxBytes: 100_000 });
    expect(await kindOf(client.request(call))).toBe('too_large');
  });

  it('a body that is not encoded as its header says is cut for a delivery and an error for a tool call', async () => {
    const receiver = await sending('gzip', Buffer.from('plain'));
    const response = await client.request(delivery(receiver.url));
    expect(response).toMatchObject({ status: 200, cut: true });
    expect(response.body.toString()).toBe('plain');
    expect(await kindOf(client.request(toolCall(receiver.url)))).toBe('network');
  });

  it('the header of an unknown encoding is kept', async () => {
    const receiver = await sending('constructor', Buffer.from('whatever'));
    const { headers } = await client.request(toolCall(receiver.url));
    expect(headers['content-encoding']).toBe('constructor');
  });

  it('a compressed body that ends early is an error for a tool call', async () => {
    const whole = gzipSync(Buffer.from('x'.repeat(10_000)));
    const receiver = await sending('gzip', whole.subarray(0, 30));
    expect(await kindOf(client.request(toolCall(receiver.url)))).toBe('network');
  });
});
