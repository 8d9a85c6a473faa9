// Many calls that end badly, in a process of their own: afterwards it holds no socket, no timer and
// no memory of them.
import { afterEach, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { sharedTestCa, startTlsReceiver } from '../../../helpers/tls.ts';
import type { TrackedServer } from '../../../helpers/trackedServer.ts';
import { CLIENT_MODULE, closing, runAlone, startRawTlsServer, startTcpServer } from './support.ts';
import { HOSTILE_RECEIVERS } from './hostileReceivers.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

const MIB = 1024 * 1024;
const CALLS_EACH = 12;

/** A leak of 4 KiB a call would exceed it. */
const MAX_GROWTH_BYTES = 2 * MIB;

/** Left out: a server below sends a bomb too, and a second authority takes long to make. */
const TOO_HEAVY = ['sends a gzip bomb', 'has a certificate of an unknown authority'];
const SLOW = /never|silence|drips|without end|103|never ends/;

const code = (urls: readonly string[]) => `
  import { createOutboundClient } from ${JSON.stringify(CLIENT_MODULE)};
  const urls = ${JSON.stringify(urls)};
  const client = createOutboundClient({ allowedNetworks: ['127.0.0.0/8'], insecureTargets: false, ca: process.env.TEST_CA });
  const call = (url, onTooLarge) => client.request({ url, method: 'POST', headers: {}, body: '{}', timeoutMs: 200, maxBytes: 65536, onTooLarge })
    .then(() => 'ok', (error) => { if (!error.kind) throw error; });
  const round = async (times) => {
    for (let n = 0; n < times; n += 1) await Promise.all(urls.flatMap((url) => [call(url, 'cut'), call(url, 'fail')]));
  };
  const settled = async () => {
    for (let n = 0; n < 5; n += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 20)); }
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    return heapUsed + external + arrayBuffers;
  };
  // What grows once, such as a cache, is there before the first look.
  await round(${CALLS_EACH});
  const before = await settled();
  await round(${CALLS_EACH});
  // On a busy machine the last sockets close late; what leaks stays.
  let grown;
  for (let n = 0; n < 20; n += 1) {
    grown = await settled() - before;
    if (grown < ${MAX_GROWTH_BYTES}) break;
  }
  await client.close();
  const left = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|TLS|GetAddrInfo/.test(name));
  const giveUpAt = performance.now() + 10_000;
  while (left().length > 0 && performance.now() < giveUpAt) await new Promise(setImmediate);

  console.log(JSON.stringify({ grown, left: left() }));
`;

it('hundreds of hostile answers leave nothing behind', async () => {
  const bomb = gzipSync(Buffer.alloc(8 * MIB));
  const servers: TrackedServer[] = [
    add(
      await startTlsReceiver(
        (_request, response) => void response.setHeader('content-encoding', 'gzip').end(bomb),
      ),
    ),
    add(await startTcpServer()), // the deadline, while connecting
    add(await startRawTlsServer(() => {})), // while waiting for an answer
    add(
      await startRawTlsServer((socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
      ),
    ), // and while reading
  ];
  for (const each of HOSTILE_RECEIVERS.filter(
    ({ name }) => !SLOW.test(name) && !TOO_HEAVY.includes(name),
  )) {
    servers.push(add(await each.start()));
  }
  expect(servers.length).toBeGreaterThan(20);
  const urls = servers.map(({ port }) => `https://localhost:${port}/`);
  const { out, err, exitCode } = await runAlone(
    code(urls),
    { TEST_CA: (await sharedTestCa()).ca },
    ['--expose-gc'],
  );
  const { grown, left } = JSON.parse(out || '{}') as { grown: number; left: string[] };
  expect({ err, exitCode, left }).toEqual({ err: '', exitCode: 0, left: [] });
  expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
});
