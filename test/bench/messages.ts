// Writes through the API, beside a bare Express route that answers the same, without and with the
// middleware that safety needs.
import { cpuSeconds, startHelper, startService } from './children.ts';
import {
  comparison,
  CPU_EACH,
  figuresOf,
  ratiosOf,
  scaled,
  type Effort,
  type Run,
} from './comparison.ts';
import { call, MESSAGE_TEXT, newCustomer, nothingPending, subscribe, write } from './customers.ts';
import { FRESH_ID, type LoopQuestion, type LoopReport } from './loop.ts';
import type { PartResult } from './report.ts';
import { startSink, type Tls } from './sinkClient.ts';

const CONVERSATIONS = 16;
const CONNECTIONS = 32;
const CALLS = 5000;
/** The bare route is faster and is called more, so that its runs are not too short to measure. */
const BARE_CALLS = 16_000;
/** Where the bare routes with helmet are. */
const SAFE = '/safe';
const GOAL = { atLeast: 0.55 };

type Write = Pick<LoopQuestion, 'paths' | 'tokens' | 'headers' | 'body' | 'expectedStatus'>;
type AnsweredRun = Run & { readonly answer: string };

export async function measureMessages(
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const sink = await startSink(tls);
  await sink.ask({ do: 'begin', status: 200 });
  const loop = startHelper('loop.ts');
  const service = await startService(tls.caFile, profiles);
  const customers = await Promise.all(
    Array.from({ length: CONVERSATIONS }, () => newCustomer(service)),
  );
  const conversations = await Promise.all(customers.map((customer) => write(service, customer)));
  const calls = scaled(CALLS, effort);
  const bareCalls = scaled(BARE_CALLS, effort);

  const teamMessage: Write = {
    paths: conversations.map((id) => `/api/conversations/${id}/messages`),
    tokens: [service.apiKey],
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: MESSAGE_TEXT }),
    expectedStatus: 201,
  };
  const chatMessage: Write = {
    paths: ['/api/chat/messages'],
    tokens: customers,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: MESSAGE_TEXT, client_message_id: FRESH_ID }),
    expectedStatus: 202,
  };

  const load = async (
    request: Write,
    target: string,
    pid: number,
    count: number,
  ): Promise<AnsweredRun> => {
    const cpuBefore = cpuSeconds(pid);
    const { perSecond, p50Ms, p99Ms, answer } = await loop.ask<LoopReport>({
      ...request,
      origin: target,
      connections: CONNECTIONS,
      count,
    } satisfies LoopQuestion);
    const cpu = cpuSeconds(pid) - cpuBefore;
    return {
      perSecond,
      answer,
      details: { [CPU_EACH]: (cpu / count) * 1e6, 'p50 ms': p50Ms, 'p99 ms': p99Ms },
    };
  };
  const ours = (request: Write) => load(request, service.url, service.pid, calls);
  const profiled = async <R extends Run>(what: string, run: () => Promise<R>): Promise<R> => {
    await service.beginProfile();
    const measured = await run();
    await service.endProfile(what, calls);
    return measured;
  };
  /** The deliveries go out at the same time, to the sink, on the same cores. */
  const oursSubscribed = async (): Promise<Run> => {
    const hook = await subscribe(service, 'message.sent', `${sink.origin}/hooks/0`);
    const run = await ours(teamMessage);
    await nothingPending(service, [hook]);
    await call(service, 'DELETE', `/api/hooks/${hook}?pending=cancel`);
    return run;
  };

  // Warm-up; and the answers that the bare routes give.
  const [teamAnswer, chatAnswer] = [
    (await ours(teamMessage)).answer,
    (await ours(chatMessage)).answer,
  ];
  await oursSubscribed();
  const express = startHelper('bareExpress.ts');
  const port = await express.ask<number>({ teamAnswer, chatAnswer });
  const bare = (request: Write, prefix = '') =>
    load(
      { ...request, paths: request.paths.map((path) => `${prefix}${path}`) },
      `http://127.0.0.1:${port}`,
      express.pid,
      bareCalls,
    );
  for (const request of [teamMessage, chatMessage])
    for (const prefix of ['', SAFE]) await bare(request, prefix);

  const compared = (name: string, request: Write, run: () => Promise<Run>) => ({
    request,
    run,
    plain: comparison(name, 'bare Express', null),
    safe: comparison(name, 'Express with helmet and JSON parsing', GOAL, 'CPU time'),
  });
  const team = compared('POST /api/conversations/{id}/messages', teamMessage, () =>
    profiled('an API reply', () => ours(teamMessage)),
  );
  const chat = compared('POST /api/chat/messages', chatMessage, () =>
    profiled('a chat message', () => ours(chatMessage)),
  );
  const subscribed = comparison(
    'POST /api/conversations/{id}/messages with a subscription',
    'bare Express',
    null,
  );
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const { request, run, plain, safe } of [team, chat]) {
      plain.theirs.push(await bare(request));
      const measured = await run();
      plain.ours.push(measured);
      safe.ours.push(measured);
      safe.theirs.push(await bare(request, SAFE));
    }
    subscribed.theirs.push(await bare(teamMessage));
    subscribed.ours.push(await profiled('an API reply with a delivery', oursSubscribed));
  }
  await service.stop();
  for (const helper of [sink.helper, loop, express]) await helper.stop();
  const all = [team.plain, team.safe, chat.plain, chat.safe, subscribed];
  return {
    ratios: all.flatMap(ratiosOf),
    figures: all.flatMap(figuresOf),
    settings: [
      `API writes: ${calls} a run (bare ${bareCalls}), ${effort.rounds} rounds after a warm-up, over ${CONNECTIONS} connections to ${CONVERSATIONS} conversations; the same undici loop calls both servers. ` +
        `Answers of ${Buffer.byteLength(teamAnswer)} and ${Buffer.byteLength(chatAnswer)} bytes. ` +
        'Ours checks the key, the rate limit and the body, masks, and answers once the message is durable; the bare route parses the body and answers the same bytes; with helmet, it sends the same security headers. ' +
        'With a subscription, the signed deliveries of the messages go out at the same time on the same cores.',
    ],
  };
}
