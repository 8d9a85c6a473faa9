// A TLS server that counts what arrives and when, and answers as cheaply as node:https can.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { KeyPair } from '../helpers/tls.ts';
import { listenTracked } from '../helpers/trackedServer.ts';
import { answerQuestions } from './children.ts';
import { quantile } from './statistics.ts';

export type SinkQuestion =
  | { readonly do: 'listen'; readonly certificate: KeyPair }
  /** Counts from zero and answers with `status`; with `hold`, only after a `release`. */
  | { readonly do: 'begin'; readonly status: number; readonly hold?: boolean }
  | { readonly do: 'release' }
  /** Answered once so many have arrived. */
  | { readonly do: 'await'; readonly count: number }
  | { readonly do: 'report' };

export interface SinkReport {
  readonly received: number;
  /** From the first arrival (or the release) to the last, and how many arrivals that time saw. */
  readonly seconds: number;
  readonly counted: number;
  readonly longestGapMs: number;
  readonly p99GapMs: number;
  readonly cpuSeconds: number;
  /** The last request as it came, to be sent again by the bare loop. */
  readonly last: { readonly rawHeaders: readonly string[]; readonly body: string } | null;
}

const ANSWER_BODY = '{"ok":true}';

let arrivals: number[] = [];
let held: ServerResponse[] | null = null;
let heldAtRelease = 0;
let status = 200;
let last: SinkReport['last'] = null;
let awaited: { count: number; arrived: () => void } | null = null;

const answer = (response: ServerResponse) =>
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': ANSWER_BODY.length })
    .end(ANSWER_BODY);

function take(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    arrivals.push(performance.now());
    last = { rawHeaders: request.rawHeaders, body };
    if (held === null) answer(response);
    else held.push(response);
    if (arrivals.length === awaited?.count) awaited.arrived();
  });
}

async function listen(certificate: KeyPair): Promise<number> {
  const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, take);
  return (await listenTracked(server, 0, '127.0.0.1')).port;
}

function begin(wanted: { status: number; hold?: boolean }): void {
  arrivals = [];
  heldAtRelease = 0;
  status = wanted.status;
  held = wanted.hold ? [] : null;
}

/** Requests that were held do not count. The last of them stands for the moment of the release. */
function release(): void {
  const waiting = held ?? [];
  held = null;
  heldAtRelease = waiting.length;
  if (heldAtRelease > 0) arrivals[heldAtRelease - 1] = performance.now();
  for (const response of waiting) answer(response);
}

const arrivalOf = (count: number) =>
  new Promise<void>((arrived) => {
    awaited = { count, arrived };
    if (arrivals.length >= count) arrived();
  });

function report(): SinkReport {
  const times = arrivals.slice(Math.max(0, heldAtRelease - 1));
  const gaps = times.slice(1).map((at, i) => at - times[i]!);
  const { user, system } = process.cpuUsage();
  return {
    received: arrivals.length,
    seconds: (times.at(-1)! - times[0]!) / 1000,
    counted: gaps.length,
    longestGapMs: gaps.reduce((a, b) => Math.max(a, b), 0),
    p99GapMs: quantile(gaps, 0.99),
    cpuSeconds: (user + system) / 1e6,
    last,
  };
}

answerQuestions<SinkQuestion>((question) => {
  if (question.do === 'listen') return listen(question.certificate);
  if (question.do === 'begin') return begin(question);
  if (question.do === 'release') return release();
  if (question.do === 'await') return arrivalOf(question.count);
  return report();
});
