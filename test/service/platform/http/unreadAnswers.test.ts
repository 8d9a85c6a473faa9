// Answers that nobody takes do not stay.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import {
  UNREAD_LIMITS,
  UnreadAnswers,
  type UnreadLimits,
} from '../../../../service/src/platform/http/server/unreadAnswers.ts';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

/** More than the system's own buffers take. */
const ANSWER = 'x'.repeat(16 << 20);

let server: TrackedServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function start(limits: Partial<UnreadLimits>) {
  const reached: BoundName[] = [];
  const app = express();
  app.set('trust proxy', true);
  app.use(
    new UnreadAnswers(
      { reached: (bound) => void reached.push(bound) },
      { ...UNREAD_LIMITS, ...limits },
    ).watch,
  );
  const ended: string[] = [];
  app.get('/', (request, response) => {
    response.once('close', () =>
      ended.push(`${request.ip} ${response.writableFinished ? 'taken' : 'cut'}`),
    );
    response.send(ANSWER);
  });
  server = await listenTracked(createServer(app), 0, '127.0.0.1');
  return { reached, ended };
}

/** Asks, and reads only the first bytes of the answer. */
async function ask(from: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.port });
  sockets.push(socket);
  socket
    .on('error', () => {})
    .write(`GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

describe('an answer that is not taken', () => {
  it('is cut with its connection after a time; an answer that is taken slowly but in time is not', async () => {
    const { reached, ended } = await start({ takenWithinMs: 8000, lookEveryMs: 50 });
    await ask('192.0.2.1');
    const reader = await ask('192.0.2.2');
    reader.resume();
    await waitFor('both to end', () => ended.length === 2);
    expect(ended).toEqual(['192.0.2.2 taken', '192.0.2.1 cut']);
    expect(reached).toEqual(['unread_answers']);
  });

  it('is cut when all of them together hold too much: the oldest of the address that holds the most', async () => {
    const { ended } = await start({ maxBytes: 56 << 20 });
    await ask('192.0.2.9');
    for (let n = 0; n < 3; n++) await ask('192.0.2.1');
    await waitFor('one to end', () => ended.length === 1);
    await ask('192.0.2.3');
    await waitFor('another to end', () => ended.length === 2);
    expect(ended).toEqual(['192.0.2.1 cut', '192.0.2.1 cut']);
  });
});
