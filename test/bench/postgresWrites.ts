// Writes through the API of one and two processes on PostgreSQL, beside the embedded store and bare
// Express.
import {
  cpuSeconds,
  startHelper,
  startService,
  type Helper,
  type RunningService,
} from './children.ts';
import { CPU_EACH, scaled, type Effort, type Run } from './comparison.ts';
import { MESSAGE_TEXT, newCustomer, write } from './customers.ts';
import { FRESH_ID, type LoopQuestion, type LoopReport } from './loop.ts';
import { BUFFERS_EACH, CPU_OF, STATEMENTS_EACH } from './postgresDeliveries.ts';
import { startOnServer, type BenchServer } from './postgresServer.ts';

export const API_PROCESSES = [1, 2] as const;
export const WRITE_CONNECTIONS = 32;
const CONVERSATIONS = 16;
const CALLS = 2400;
const BARE_CALLS = 9600;
const SCHEMA = 'bench_writes';

type Write = Pick<LoopQuestion, 'paths' | 'tokens' | 'headers' | 'body' | 'expectedStatus'>;

export interface WriteRuns {
  readonly name: string;
  readonly bare: readonly Run[];
  readonly embedded: readonly Run[];
  /** By how many API processes there were. */
  readonly processes: ReadonlyMap<number, readonly Run[]>;
}

export interface WriteReport {
  readonly calls: number;
  readonly runs: readonly WriteRuns[];
}

interface Request {
  readonly name: string;
  readonly of: (side: Side) => Write;
}

interface Side {
  readonly apiKey: string;
  readonly customers: readonly string[];
  readonly conversations: readonly string[];
}

const headers = { 'content-type': 'application/json' };

const REQUESTS: readonly Request[] = [
  {
    name: 'POST /api/conversations/{id}/messages',
    of: ({ apiKey, conversations }) => ({
      paths: conversations.map((id) => `/api/conversations/${id}/messages`),
      tokens: [apiKey],
      headers,
      body: JSON.stringify({ text: MESSAGE_TEXT }),
      expectedStatus: 201,
    }),
  },
  {
    name: 'POST /api/chat/messages',
    of: ({ customers }) => ({
      paths: ['/api/chat/messages'],
      tokens: customers,
      headers,
      body: JSON.stringify({ text: MESSAGE_TEXT, client_message_id: FRESH_ID }),
      expectedStatus: 202,
    }),
  },
];

export async function runWrites(
  server: BenchServer,
  caFile: string,
  effort: Effort,
  profiles?: string,
): Promise<WriteReport> {
  const loops = [startHelper('loop.ts'), startHelper('loop.ts')];
  const embedded = await startService(caFile);
  const processes = [
    await startOnServer(server, SCHEMA, 'api', caFile, profiles),
    await startOnServer(server, SCHEMA, 'api', caFile),
  ];
  const [alone, shared] = [await sideOf(embedded), await sideOf(processes[0]!)];
  const calls = scaled(CALLS, effort);
  const runs = REQUESTS.map(({ name }) => ({
    name,
    bare: [] as Run[],
    embedded: [] as Run[],
    processes: new Map<number, Run[]>(API_PROCESSES.map((n) => [n, []])),
  }));

  /** The calls are shared out over the targets, each with a loop of its own. */
  const load = async (
    request: Write,
    targets: readonly { readonly url: string; readonly pid: number }[],
    count: number,
  ): Promise<Run & { readonly answer: string }> => {
    const cpuOf = () => targets.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    const cpuBefore = cpuOf();
    const question = {
      ...request,
      connections: WRITE_CONNECTIONS / targets.length,
      count: count / targets.length,
    };
    const startedAt = performance.now();
    const reports = await Promise.all(
      targets.map(({ url }, i) =>
        loops[i]!.ask<LoopReport>({ ...question, origin: url } satisfies LoopQuestion),
      ),
    );
    const perSecond =
      targets.length === 1
        ? reports[0]!.perSecond
        : count / ((performance.now() - startedAt) / 1000);
    const most = (of: (report: LoopReport) => number) => Math.max(...reports.map(of));
    return {
      perSecond,
      answer: reports[0]!.answer,
      details: {
        [CPU_EACH]: ((cpuOf() - cpuBefore) / count) * 1e6,
        'p50 ms': most(({ p50Ms }) => p50Ms),
        'p99 ms': most(({ p99Ms }) => p99Ms),
      },
    };
  };
  const onServer = async (request: Write, n: number): Promise<Run> => {
    const before = await server.work();
    await processes[0]!.beginProfile();
    const run = await load(request, processes.slice(0, n), calls);
    await processes[0]!.endProfile(`a write, ${n} processes`, Math.round(calls / n));
    const after = await server.work();
    const postgres = ((after.cpuSeconds - before.cpuSeconds) / calls) * 1e6;
    const api = run.details[CPU_EACH]!;
    const each = {
      [STATEMENTS_EACH]: (after.statements - before.statements) / calls,
      [BUFFERS_EACH]: (after.buffers - before.buffers) / calls,
    };
    return {
      ...run,
      details: {
        ...run.details,
        [CPU_EACH]: api + postgres,
        [CPU_OF.api]: api,
        [CPU_OF.postgres]: postgres,
        ...each,
      },
    };
  };

  // Warm-up; and the answers that the bare routes give.
  const answers: string[] = [];
  for (const { of } of REQUESTS) {
    answers.push((await load(of(alone), [embedded], calls)).answer);
    await onServer(of(shared), 2);
  }
  const { express, target } = await startBare(answers as [string, string]);
  for (const { of } of REQUESTS) await load(of(alone), [target], scaled(BARE_CALLS / 4, effort));
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const [at, { of }] of REQUESTS.entries()) {
      const into = runs[at]!;
      into.bare.push(await load(of(alone), [target], scaled(BARE_CALLS, effort)));
      into.embedded.push(await load(of(alone), [embedded], calls));
      for (const n of API_PROCESSES) into.processes.get(n)!.push(await onServer(of(shared), n));
    }
  }
  await Promise.all([embedded, ...processes].map((service) => service.stop()));
  for (const helper of [...loops, express]) await helper.stop();
  return { calls, runs };
}

async function startBare([teamAnswer, chatAnswer]: [string, string]): Promise<{
  express: Helper;
  target: { url: string; pid: number };
}> {
  const express = startHelper('bareExpress.ts');
  return {
    express,
    target: {
      url: `http://127.0.0.1:${await express.ask<number>({ teamAnswer, chatAnswer })}`,
      pid: express.pid,
    },
  };
}

async function sideOf(service: RunningService): Promise<Side> {
  const customers = await Promise.all(
    Array.from({ length: CONVERSATIONS }, () => newCustomer(service)),
  );
  return {
    apiKey: service.apiKey,
    customers,
    conversations: await Promise.all(customers.map((customer) => write(service, customer))),
  };
}
