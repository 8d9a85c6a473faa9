// Receivers that answer before they have read, read nothing, or close a connection that was to be
// kept.
import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { sharedTestCa } from '../../../helpers/tls.ts';
import { listenTracked } from '../../../helpers/trackedServer.ts';
import {
  closing,
  delivery,
  failureOf,
  kindOf,
  localClient,
  startRawTlsServer,
  toolCall,
  until,
} from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

/** Far more than the buffers of the connection hold. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x');

/** A server that gets its sockets before anything was read from them. */
const startUnreading = async (onSocket: (socket: TLSSocket) => void) => {
  const server = createTlsServer((await sharedTestCa()).server, (socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  const tracked = add(await listenTracked(server, 0, '127.0.0.1'));
  return { tracked, url: `https://localhost:${tracked.port}/` };
};

describe('a receiver that', () => {
  it('reads nothing of a large body: the request ends at the deadline', async () => {
    const { url } = await startUnreading(() => {});
    const client = add(await localClient());
    const failure = await failureOf(client.request(delivery(url, { body: LARGE, timeoutMs: 500 })));
    expect([failure.kind, failure.message]).toEqual([
      'timeout',
      `${new URL(url).host} did not answer within 500 ms.`,
    ]);
    const call = toolCall(url, { body: LARGE, timeoutMs: 500 });
    expect(await kindOf(client.request(call))).toBe('timeout');
  });

  it.each([413, 200])(
    'answers %i after the first bytes of a large body and reads no more: its answer counts',
    async (status) => {
      const { url } = await startUnreading((socket) => {
        socket.once('data', () => {
          socket.pause();
          socket.write(
            `HTTP/1.1 ${status} Early\r\nContent-Length: 5\r\nConnection: close\r\n\r\nearly`,
          );
        });
      });
      const client = add(await localClient());
      const response = await client.request(delivery(url, { body: LARGE, timeoutMs: 5_000 }));
      expect([response.status, response.body.toString()]).toEqual([status, 'early']);
    },
  );

  it('answers before anything was sent: the request succeeds or fails, and does not hang', async () => {
    const { url, tracked } = await startUnreading((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'.repeat(3)),
    );
    const client = add(await localClient());
    const outcome = await client.request(delivery(url)).then(
      ({ status }) => status,
      (error: { kind: string }) => error.kind,
    );
    // Which of the two depends on what came first.
    expect([200, 'network']).toContain(outcome);
    tracked.close();
    await until(() => tracked.openSockets === 0);
  });

  it('closes a kept connection at its second request: that request fails at once, and the next one succeeds', async () => {
    const server = add(
      await startRawTlsServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        socket.once('data', () => socket.destroy());
      }),
    );
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    const outcomes: unknown[] = [];
    for (let sent = 0; sent < 10; sent += 1) {
      outcomes.push(
        await client.request(delivery(server.url)).then(
          ({ status }) => status,
          (error: { message: string }) => error.message,
        ),
      );
    }
    const broken = `localhost:${server.port} closed the connection before it had answered.`;
    expect(outcomes).toEqual(Array.from({ length: 5 }, () => [200, broken]).flat());
    expect(server.acceptedSockets).toBe(5);
    await until(() => server.openSockets === 0);
  });

  it('closes an idle connection: the next request opens a new one, and nothing is lost', async () => {
    const server = add(
      await startRawTlsServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => socket.end());
      }),
    );
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    for (let sent = 0; sent < 5; sent += 1) {
      expect((await client.request(delivery(server.url))).status).toBe(200);
      await until(() => server.openSockets === 0);
    }
  });
});
