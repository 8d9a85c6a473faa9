import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import { makeTestCa, sharedTestCa, startTlsReceiver, type KeyPair } from '../../../helpers/tls.ts';
import { closing, delivery, failureOf, localClient, startTcpServer, until } from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

const selfSigned = async (): Promise<KeyPair> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
  });
  return { key, cert };
};

const certificates: [string, string, () => Promise<KeyPair>][] = [
  [
    'expired',
    'The certificate of % has expired.',
    async () => (await sharedTestCa()).issue({ notBefore: inDays(-20), notAfter: inDays(-1) }),
  ],
  [
    'not yet valid',
    'The certificate of % is not valid yet.',
    async () => (await sharedTestCa()).issue({ notBefore: inDays(1), notAfter: inDays(20) }),
  ],
  [
    'for another name',
    'The certificate of % is for another name.',
    async () => (await sharedTestCa()).issue({ dnsNames: ['other.example'], ips: [] }),
  ],
  [
    'self-signed',
    'The certificate of % is self-signed; NODE_EXTRA_CA_CERTS can make it trusted.',
    selfSigned,
  ],
  [
    'of an unknown authority',
    'The certificate of % comes from an unknown authority, or % does not send its intermediate certificate.',
    async () => (await makeTestCa()).server,
  ],
];

describe('a receiver whose certificate is', () => {
  it.each(certificates)('%s is refused in words', async (_what, words, makeCertificate) => {
    const receiver = add(
      await startTlsReceiver(undefined, { certificate: await makeCertificate() }),
    );
    const client = add(await localClient());
    const failure = await failureOf(client.request(delivery(receiver.url)));
    expect(failure.kind).toBe('tls');
    expect(failure.message).toBe(words.replaceAll('%', `localhost:${receiver.port}`));
    expect(receiver.requests).toHaveLength(0);
    await until(() => receiver.openSockets === 0);
  });
});

it('a receiver that speaks HTTP/2 only is refused in words', async () => {
  const server = createSecureServer({ ...(await sharedTestCa()).server, allowHTTP1: false });
  server.on('sessionError', () => {}).on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = add(await localClient());
  const failure = await failureOf(client.request(delivery(`https://localhost:${port}/`)));
  server.close();
  expect(failure.kind).toBe('tls');
  expect(failure.message).toBe(
    `localhost:${port} does not speak HTTP/1.1 (it may offer HTTP/2 only).`,
  );
});

it('a receiver that speaks plain http is refused in words', async () => {
  const server = add(
    await startTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  const client = add(await localClient());
  const failure = await failureOf(client.request(delivery(server.url)));
  expect(failure.kind).toBe('tls');
  expect(failure.message).toBe(
    `localhost:${server.port} does not speak TLS on this port (it may be plain http).`,
  );
});

it('a receiver that hangs up during the handshake is refused in words', async () => {
  const server = add(await startTcpServer((socket) => socket.once('data', () => socket.end())));
  const client = add(await localClient());
  const failure = await failureOf(client.request(delivery(server.url)));
  expect(failure.kind).toBe('tls');
  expect(failure.message).toBe(
    `localhost:${server.port} closed the connection during the TLS handshake.`,
  );
});
