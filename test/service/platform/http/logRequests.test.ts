import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import express from 'express';
import { pino } from 'pino';
import { handleErrors } from '../../../../service/src/platform/http/errors.ts';
import {
  logRequests,
  MAX_LINES_PER_MINUTE,
} from '../../../../service/src/platform/http/server/logRequests.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

let lines: { msg: string; level: number }[];
let withheld: number;
let server: ReturnType<express.Express['listen']>;
beforeEach(async () => {
  [lines, withheld] = [[], 0];
  const app = express();
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  logRequests(app, log, { reached: () => void (withheld += 1) }, (path) => path);
  app.get('/bug', () => {
    throw new Error('a bug');
  });
  app.use(handleErrors);
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => void server.close());

it('writes 600 failures a minute with their causes, and refusals beside them', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (path: string) => fetch(url + path).then((answer) => answer.text());
  for (let n = 0; n < 700; n += 50)
    await Promise.all(Array.from({ length: 50 }, () => ask('/bug')));
  await waitFor('all to be written or withheld', () => lines.length + withheld === 1400);
  for (const message of ['request failed', 'request completed'])
    expect(lines.filter(({ msg }) => msg === message)).toHaveLength(MAX_LINES_PER_MINUTE);
  await ask('/nothing');
  await waitFor('the refusal', () => lines.at(-1)?.level === 30);
});
