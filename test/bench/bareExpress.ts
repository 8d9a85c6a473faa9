// A bare Express route that parses a message and answers with the JSON that the service answered with.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { answerQuestions } from './children.ts';

answerQuestions(async ({ answer }: { answer: string }) => {
  const sent = JSON.parse(answer) as unknown;
  const app = express();
  // As in the service, so that the bare route does no work that the service does not do.
  app.set('etag', false);
  app.post('/api/conversations/:id/messages', express.json(), (request, response) => {
    if (typeof (request.body as { text?: unknown }).text !== 'string') throw new Error('no text');
    response.status(201).json(sent);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
});
