// Bare Express routes that parse a message and answer with the JSON that the service answered with.
// Those below /safe also send the service's security headers.
import { createServer } from 'node:http';
import express, { type Request, type Response } from 'express';
import { commonHeaders } from '../../service/src/platform/http/server/securityHeaders.ts';
import { listenTracked } from '../helpers/trackedServer.ts';
import { answerQuestions } from './children.ts';

answerQuestions(async ({ teamAnswer, chatAnswer }: { teamAnswer: string; chatAnswer: string }) => {
  const app = express();
  // As in the service: the bare route must not do work that the service does not do.
  app.set('etag', false);
  const answering = (status: number, answer: string) => {
    const sent = JSON.parse(answer) as unknown;
    return (request: Request, response: Response) => {
      if (typeof (request.body as { text?: unknown }).text !== 'string') throw new Error('no text');
      response.status(status).json(sent);
    };
  };
  for (const [prefix, ...middleware] of [
    ['', express.json()],
    ['/safe', commonHeaders(), express.json()],
  ] as const) {
    app.post(`${prefix}/api/conversations/:id/messages`, ...middleware, answering(201, teamAnswer));
    app.post(`${prefix}/api/chat/messages`, ...middleware, answering(202, chatAnswer));
  }
  return (await listenTracked(createServer(app), 0, '127.0.0.1')).port;
});
