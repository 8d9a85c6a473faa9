// Receivers of three kinds behind one TLS server: prompt ones, one that breaks down, one that
// handles requests one after the other.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPair } from '../helpers/tls.ts';
import { answerQuestions } from './children.ts';

export type ReceiversQuestion =
  | { readonly do: 'listen'; readonly certificate: KeyPair }
  /**
   * Forgets what has come so far. `/bad` answers so many requests and then does as told; `/slow`
   * takes so long for each.
   */
  | {
      readonly do: 'begin';
      readonly goodFor?: number;
      readonly then?: 'hang' | 'fail';
      readonly slowMs?: number;
    }
  | { readonly do: 'report' };

export interface ReceiversReport {
  /**
   * At `/ok/<side>/…`, by side: from when the customer's message was sent to the service until its
   * event was here, in milliseconds.
   */
  readonly latenciesMs: Readonly<Record<string, readonly number[]>>;
  readonly badRequests: number;
  /** Ids of the events that `/slow` has handled to the end. */
  readonly slowEvents: readonly string[];
  /** Requests at `/slow` that the service gave up. */
  readonly slowGivenUp: number;
}

/** The moment as all processes of a machine count it. */
export const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

let latenciesMs: Record<string, number[]> = {};
let badRequests = 0;
let slowEvents: string[] = [];
let slowGivenUp = 0;
let bad: { goodFor: number; then: 'hang' | 'fail' } = { goodFor: 0, then: 'hang' };
let slowMs = 100;
let line = Promise.resolve();

const answer = (response: ServerResponse, status = 200) =>
  response.writeHead(status, { 'content-length': 2 }).end('ok');

function take({ url, headers }: IncomingMessage, response: ServerResponse, body: string): void {
  if (url!.startsWith('/ok/')) {
    const { message } = JSON.parse(body) as { message: { text: string } };
    (latenciesMs[url!.split('/')[2]!] ??= []).push(
      nowMs() - Number(/sent at (\S+)/.exec(message.text)![1]),
    );
    answer(response);
  } else if (url === '/good') answer(response);
  else if (url === '/bad') {
    badRequests += 1;
    if (badRequests <= bad.goodFor) answer(response);
    else if (bad.then === 'fail') answer(response, 500);
  } else {
    response.on('close', () => (slowGivenUp += response.writableFinished ? 0 : 1));
    line = line.then(async () => {
      await sleep(slowMs);
      slowEvents.push(String(headers['x-service-delivery']));
      answer(response);
    });
  }
}

async function listen(certificate: KeyPair): Promise<number> {
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => take(request, response, body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function begin(wanted: { goodFor?: number; then?: 'hang' | 'fail'; slowMs?: number }): void {
  [latenciesMs, badRequests, slowEvents, slowGivenUp] = [{}, 0, [], 0];
  bad = { goodFor: wanted.goodFor ?? 0, then: wanted.then ?? 'hang' };
  slowMs = wanted.slowMs ?? 100;
}

if (process.send !== undefined) {
  answerQuestions<ReceiversQuestion>((question) => {
    if (question.do === 'listen') return listen(question.certificate);
    if (question.do === 'begin') return begin(question);
    return { latenciesMs, badRequests, slowEvents, slowGivenUp } satisfies ReceiversReport;
  });
}
