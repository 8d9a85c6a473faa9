// Receivers of three kinds behind one TLS server: prompt ones, those that hang after a while, and
// those that handle requests one after the other.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPair } from '../helpers/tls.ts';
import { listenTracked } from '../helpers/trackedServer.ts';
import { answerQuestions } from './children.ts';

export type ReceiversQuestion =
  | { readonly do: 'listen'; readonly certificate: KeyPair }
  | { readonly do: 'forgetLatencies' }
  | { readonly do: 'report' };

export interface ReceiversReport {
  /**
   * At `/ok/<side>/…`, by side: from when the customer's message was sent to the service until its
   * event was here, in milliseconds.
   */
  readonly latenciesMs: Readonly<Record<string, readonly number[]>>;
  /** Ids of the events that `/slow/<milliseconds>` has handled to the end, each in that time. */
  readonly slowEvents: readonly string[];
  /** Requests at `/slow/…` that the service gave up. */
  readonly slowGivenUp: number;
}

/** Milliseconds of a clock that all processes of a machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

let latenciesMs: Record<string, number[]> = {};
const hangingRequests: Record<string, number> = {};
const slowEvents: string[] = [];
let slowGivenUp = 0;
/** The end of the requests at `/slow/…`, which are handled one after the other. */
let lastHandled = Promise.resolve();

const answer = (response: ServerResponse) =>
  response.writeHead(200, { 'content-length': 2 }).end('ok');

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url!;
  const [, kind, detail] = url.split('/') as [string, string, string];
  const body = await text(request);
  if (kind === 'ok') {
    const { message } = JSON.parse(body) as { message: { text: string } };
    const sentAt = Number(/sent at (\S+)/.exec(message.text)![1]);
    (latenciesMs[detail] ??= []).push(nowMs() - sentAt);
    answer(response);
  } else if (kind === 'hangs-after') {
    hangingRequests[url] = (hangingRequests[url] ?? 0) + 1;
    if (hangingRequests[url] <= Number(detail)) answer(response);
  } else {
    response.on('close', () => (slowGivenUp += response.writableFinished ? 0 : 1));
    lastHandled = lastHandled.then(async () => {
      await sleep(Number(detail));
      slowEvents.push(String(request.headers['x-service-delivery']));
      answer(response);
    });
  }
}

async function listen(certificate: KeyPair): Promise<number> {
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, take);
  return (await listenTracked(server, 0, '127.0.0.1')).port;
}

if (process.send !== undefined) {
  answerQuestions<ReceiversQuestion>((question) => {
    if (question.do === 'listen') return listen(question.certificate);
    if (question.do === 'report')
      return { latenciesMs, slowEvents, slowGivenUp } satisfies ReceiversReport;
    return void (latenciesMs = {});
  });
}
