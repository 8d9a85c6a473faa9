import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import express from 'express';
import { byFirstPart } from '../../../../service/src/platform/http/byFirstPart.ts';

const app = express();
app.use('/api', byFirstPart({ hooks: [(_request, response) => void response.status(204).end()] }));
const server = createServer(app);
beforeAll(async () => {
  await once(server.listen(0), 'listening');
});
afterAll(async () => {
  await once(server.close(), 'close');
});

it.each([
  ['/api/hooks', 204],
  ['/api/Hooks?limit=1', 204],
  ['/api/hooks/sub_1', 204],
  // As a proxy sends it; RFC 9112 has every server accept it.
  ['http://conversations.example.com/api/hooks/sub_1', 204],
  ['/api/others', 404],
  ['/api', 404],
])('answers a request for %s with %d', async (path, status) => {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, path, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(status);
});
