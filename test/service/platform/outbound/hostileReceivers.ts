// Receivers that misbehave, each in one way: how to start it, and what the record of a delivery to
// it says.
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { makeTestCa, sharedTestCa, startTlsReceiver, type KeyPair } from '../../../helpers/tls.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { startRawTlsServer, startRepeatingServer, startTcpServer } from './support.ts';

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
/** Sends the head, and then these bytes again and again. */
const repeats =
  (...answer: Parameters<typeof startRepeatingServer>) =>
  () =>
    startRepeatingServer(...answer);
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

const delivered = (name: string, start: HostileReceiver['start']): HostileReceiver => ({
  name,
  start,
  status: 200,
  outcome: 'delivered',
  error: null,
});
const failed = (name: string, start: HostileReceiver['start'], error: string): HostileReceiver => ({
  name,
  start,
  status: null,
  outcome: 'failed',
  error,
});

const LATE = '% did not answer within 5 s. Let it answer first and do its work afterwards.';
const CLOSED =
  "% closed the connection before it had answered. The receiver's log, or that of a proxy in front of it, may say why.";
const LENGTH =
  '% sent a body that is longer or shorter than it announced. The receiver, or a proxy in front of it, sends malformed responses.';
const NOTLS =
  '% does not speak TLS on this port (it may be plain http). Check the port of the address.';

export const HOSTILE_RECEIVERS: readonly HostileReceiver[] = [
  // No answer in time
  failed(
    'accepts and never speaks',
    () => startTcpServer(),
    'No connection to % was established within 5 s. Check the address, and the firewalls on the way.',
  ),
  failed('reads and never answers', sends(), LATE),
  failed('sends a header that never ends', repeats(`${OK}X-Drip: `, 'x', 10), LATE),
  failed(
    'floods with 100 Continue',
    repeats('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), 5),
    '% sent 100 Continue, although nothing asked for it. Let it answer with a final status.',
  ),
  failed(
    'floods with 103 Early Hints',
    repeats('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'.repeat(100), 5),
    LATE,
  ),

  // A success, and then trouble
  delivered('sends headers, then silence', sends(`${OK}Content-Length: 1000\r\n\r\n`)),
  delivered('drips a body without end', repeats(CHUNKED, '1\r\nx\r\n', 10)),
  delivered('floods with a body', repeats(`${OK}\r\n`, Buffer.alloc(64 * 1024, 'x'), 1)),
  delivered('sends a gzip bomb', startBomb),
  delivered(
    'announces more than it sends',
    sendsAndHangsUp(`${OK}Content-Length: 1000\r\n\r\nhalf`),
  ),
  delivered(
    'sends more than it announces',
    sends(`${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n`),
  ),
  delivered('sends chunks that are none', sends(CHUNKED, 'zzz\r\n')),
  delivered('sends invalid UTF-8', () =>
    startTlsReceiver(
      (_request, response) =>
        void response.end(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x00, 0xed, 0xa0, 0x80])),
    ),
  ),
  delivered(
    'closes after each answer without saying so',
    raw((socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nok`)),
  ),

  // No answer at all
  failed('hangs up before any answer', sendsAndHangsUp(''), CLOSED),
  failed('resets after the status line', sendsAndHangsUp(OK), CLOSED),
  failed(
    'announces two lengths',
    sends(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`),
    LENGTH,
  ),
  failed('announces a negative length', sends(`${OK}Content-Length: -1\r\n\r\nok`), LENGTH),
  failed(
    'announces a length and chunks',
    sends(`${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
    LENGTH,
  ),
  failed(
    'switches protocols',
    sends('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    '% wants to switch to another protocol. Use an address that accepts POST; this one may be for WebSockets.',
  ),
  failed(
    'speaks another protocol',
    sends('SSH-2.0-OpenSSH_9.6\r\n'),
    '% did not answer in HTTP/1.1. Check that the address and its port are those of a web server.',
  ),
  failed(
    'answers with status 000',
    sends('HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n'),
    '% answered with a status that HTTP does not have. The receiver, or a proxy in front of it, sends malformed responses.',
  ),
  failed(
    'sends 10 MiB of headers',
    sends(manyHeaders),
    '% answered with headers larger than 16 KiB. Let it send fewer or smaller ones.',
  ),

  // TLS
  failed(
    'has an expired certificate',
    issued({ notBefore: inDays(-20), notAfter: inDays(-1) }),
    'The certificate of % has expired. Install a new certificate on the receiver.',
  ),
  failed(
    'has a certificate of the future',
    issued({ notBefore: inDays(1), notAfter: inDays(20) }),
    'The certificate of % is not valid yet. Check the clocks of both machines.',
  ),
  failed(
    'has a certificate for another name',
    issued({ dnsNames: ['other.example'], ips: [] }),
    'The certificate of % is for another name. Use the name it is for, or give the receiver a certificate for this name.',
  ),
  failed(
    'has a self-signed certificate',
    withCertificate(selfSigned),
    'The certificate of % is self-signed; NODE_EXTRA_CA_CERTS can make it trusted.',
  ),
  failed(
    'has a certificate of an unknown authority',
    withCertificate(async () => (await makeTestCa()).server),
    'The certificate of % comes from an unknown authority, or % does not send its intermediate certificate. Let it send its whole certificate chain; NODE_EXTRA_CA_CERTS can make an authority trusted.',
  ),
  failed(
    'speaks HTTP/2 only',
    startHttp2Only,
    '% does not speak HTTP/1.1 (it may offer HTTP/2 only). Let the receiver, or a proxy in front of it, speak HTTP/1.1 too.',
  ),
  failed(
    'speaks TLS 1.0 only',
    startTls10Only,
    '% speaks only TLS older than 1.2. Let it speak TLS 1.2 or 1.3.',
  ),
  failed(
    'speaks plain http',
    () => startTcpServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    NOTLS,
  ),
  failed(
    'hangs up during the handshake',
    () => startTcpServer((socket) => void socket.once('data', () => socket.end())),
    '% closed the connection during the TLS handshake. Check that this port speaks TLS for this name.',
  ),
  failed(
    'answers the handshake with garbage',
    () =>
      startTcpServer(
        (socket) => void socket.once('data', () => socket.write(Buffer.alloc(100, 7))),
      ),
    NOTLS,
  ),
];
