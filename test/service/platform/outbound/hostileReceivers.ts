// Receivers that misbehave, each in one way: how to start it, and what the record of a delivery to
// it says.
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { makeTestCa, sharedTestCa, startTlsReceiver, type KeyPair } from '../../../helpers/tls.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { startRawTlsServer, startTcpServer, writeForever } from './support.ts';

export const HOSTILE_TIMEOUT_MS = 5_000;

export interface HostileReceiver {
  readonly name: string;
  start(): Promise<TrackedServer>;
  /** Null when no status line came. */
  readonly status: number | null;
  readonly outcome: 'delivered' | 'failed';
  /**
   * What an operator reads of each attempt, with a deadline of `HOSTILE_TIMEOUT_MS`; `%` stands for
   * the receiver. Null for a success.
   */
  readonly error: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

const raw = (onRequest: (socket: TLSSocket) => void) => () => startRawTlsServer(onRequest);
const sends = (...parts: (string | Buffer)[]) =>
  raw((socket) => parts.forEach((part) => socket.write(part)));
const sendsAndHangsUp = (bytes: string) =>
  raw(
    (socket) =>
      void (bytes === ''
        ? socket.destroy()
        : socket.write(bytes, () => setTimeout(() => socket.destroy(), 20))),
  );
const withCertificate = (make: () => Promise<KeyPair>) => async () =>
  startTlsReceiver(undefined, { certificate: await make() });
const issued = (options: Parameters<Awaited<ReturnType<typeof sharedTestCa>>['issue']>[0]) =>
  withCertificate(async () => (await sharedTestCa()).issue(options));

const selfSigned = async (): Promise<KeyPair> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
  });
  return { key, cert };
};

/** Compressed before anyone asks, which takes a while. */
const startBomb = async () => {
  const bomb = gzipSync(Buffer.alloc(8 * MIB));
  return startTlsReceiver(
    (_request, response) => void response.setHeader('content-encoding', 'gzip').end(bomb),
  );
};

const startHttp2Only = async () => {
  const server = createSecureServer({ ...(await sharedTestCa()).server, allowHTTP1: false });
  server.on('sessionError', () => {}).on('tlsClientError', () => {});
  return listenTracked(server, 0, '127.0.0.1');
};

const startTls10Only = async () => {
  const server = createTlsServer({
    ...(await sharedTestCa()).server,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  server.on('tlsClientError', () => {});
  return listenTracked(server, 0, '127.0.0.1');
};

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const manyHeaders = `${OK}${`X-Filler: ${'x'.repeat(1000)}\r\n`.repeat((10 * MIB) / 1012)}`;

const delivered = { status: 200, outcome: 'delivered', error: null } as const;
const failed = (error: string) => ({ status: null, outcome: 'failed', error }) as const;

const LATE = '% did not answer within 5 s. Let it answer first and do its work afterwards.';
const CLOSED =
  "% closed the connection before it had answered. The receiver's log, or that of a proxy in front of it, may say why.";
const LENGTH =
  '% sent a body that is longer or shorter than it announced. The receiver, or a proxy in front of it, sends malformed responses.';
const NOTLS =
  '% does not speak TLS on this port (it may be plain http). Check the port of the address.';

export const HOSTILE_RECEIVERS: readonly HostileReceiver[] = [
  // No answer in time
  {
    name: 'accepts and never speaks',
    start: () => startTcpServer(),
    ...failed(
      'No connection to % was established within 5 s. Check the address, and the firewalls on the way.',
    ),
  },
  { name: 'reads and never answers', start: sends(), ...failed(LATE) },
  {
    name: 'sends a header that never ends',
    start: raw((socket) => {
      socket.write(`${OK}X-Drip: `);
      writeForever(socket, 'x', 10);
    }),
    ...failed(LATE),
  },
  {
    name: 'floods with 100 Continue',
    start: raw((socket) => writeForever(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), 5)),
    ...failed(
      '% sent 100 Continue, although nothing asked for it. Let it answer with a final status.',
    ),
  },
  {
    name: 'floods with 103 Early Hints',
    start: raw((socket) =>
      writeForever(
        socket,
        `HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n`.repeat(100),
        5,
      ),
    ),
    ...failed(LATE),
  },

  // A success, and then trouble
  {
    name: 'sends headers, then silence',
    start: sends(`${OK}Content-Length: 1000\r\n\r\n`),
    ...delivered,
  },
  {
    name: 'drips a body without end',
    start: raw((socket) => {
      socket.write(CHUNKED);
      writeForever(socket, '1\r\nx\r\n', 10);
    }),
    ...delivered,
  },
  {
    name: 'floods with a body',
    start: raw((socket) => {
      socket.write(`${OK}\r\n`);
      writeForever(socket, Buffer.alloc(64 * 1024, 'x'), 1);
    }),
    ...delivered,
  },
  { name: 'sends a gzip bomb', start: startBomb, ...delivered },
  {
    name: 'announces more than it sends',
    start: sendsAndHangsUp(`${OK}Content-Length: 1000\r\n\r\nhalf`),
    ...delivered,
  },
  {
    name: 'sends more than it announces',
    start: sends(`${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n`),
    ...delivered,
  },
  { name: 'sends chunks that are none', start: sends(CHUNKED, 'zzz\r\n'), ...delivered },
  {
    name: 'sends invalid UTF-8',
    start: () =>
      startTlsReceiver(
        (_request, response) =>
          void response.end(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x00, 0xed, 0xa0, 0x80])),
      ),
    ...delivered,
  },
  {
    name: 'closes after each answer without saying so',
    start: raw((socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nok`)),
    ...delivered,
  },

  // No answer at all
  { name: 'hangs up before any answer', start: sendsAndHangsUp(''), ...failed(CLOSED) },
  { name: 'resets after the status line', start: sendsAndHangsUp(OK), ...failed(CLOSED) },
  {
    name: 'announces two lengths',
    start: sends(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`),
    ...failed(LENGTH),
  },
  {
    name: 'announces a negative length',
    start: sends(`${OK}Content-Length: -1\r\n\r\nok`),
    ...failed(LENGTH),
  },
  {
    name: 'announces a length and chunks',
    start: sends(
      `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    ),
    ...failed(LENGTH),
  },
  {
    name: 'switches protocols',
    start: sends(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    ),
    ...failed(
      '% wants to switch to another protocol. Use an address that accepts POST; this one may be for WebSockets.',
    ),
  },
  {
    name: 'speaks another protocol',
    start: sends('SSH-2.0-OpenSSH_9.6\r\n'),
    ...failed(
      '% did not answer in HTTP/1.1. Check that the address and its port are those of a web server.',
    ),
  },
  {
    name: 'answers with status 000',
    start: sends('HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n'),
    ...failed(
      '% answered with a status that HTTP does not have. The receiver, or a proxy in front of it, sends malformed responses.',
    ),
  },
  {
    name: 'sends 10 MiB of headers',
    start: sends(manyHeaders),
    ...failed('% answered with headers larger than 16 KiB. Let it send fewer or smaller ones.'),
  },

  // TLS
  {
    name: 'has an expired certificate',
    start: issued({ notBefore: inDays(-20), notAfter: inDays(-1) }),
    ...failed('The certificate of % has expired. Install a new certificate on the receiver.'),
  },
  {
    name: 'has a certificate of the future',
    start: issued({ notBefore: inDays(1), notAfter: inDays(20) }),
    ...failed('The certificate of % is not valid yet. Check the clocks of both machines.'),
  },
  {
    name: 'has a certificate for another name',
    start: issued({ dnsNames: ['other.example'], ips: [] }),
    ...failed(
      'The certificate of % is for another name. Use the name it is for, or give the receiver a certificate for this name.',
    ),
  },
  {
    name: 'has a self-signed certificate',
    start: withCertificate(selfSigned),
    ...failed('The certificate of % is self-signed; NODE_EXTRA_CA_CERTS can make it trusted.'),
  },
  {
    name: 'has a certificate of an unknown authority',
    start: withCertificate(async () => (await makeTestCa()).server),
    ...failed(
      'The certificate of % comes from an unknown authority, or % does not send its intermediate certificate. Let it send its whole certificate chain; NODE_EXTRA_CA_CERTS can make an authority trusted.',
    ),
  },
  {
    name: 'speaks HTTP/2 only',
    start: startHttp2Only,
    ...failed(
      '% does not speak HTTP/1.1 (it may offer HTTP/2 only). Let the receiver, or a proxy in front of it, speak HTTP/1.1 too.',
    ),
  },
  {
    name: 'speaks TLS 1.0 only',
    start: startTls10Only,
    ...failed('% speaks only TLS older than 1.2. Let it speak TLS 1.2 or 1.3.'),
  },
  {
    name: 'speaks plain http',
    start: () => startTcpServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    ...failed(NOTLS),
  },
  {
    name: 'hangs up during the handshake',
    start: () => startTcpServer((socket) => void socket.once('data', () => socket.end())),
    ...failed(
      '% closed the connection during the TLS handshake. Check that this port speaks TLS for this name.',
    ),
  },
  {
    name: 'answers the handshake with garbage',
    start: () =>
      startTcpServer(
        (socket) => void socket.once('data', () => socket.write(Buffer.alloc(100, 7))),
      ),
    ...failed(NOTLS),
  },
];
