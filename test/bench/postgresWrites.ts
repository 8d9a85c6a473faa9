// Writes through the API of one and two processes on PostgreSQL, beside the embedded store and bare
// Express.
import { startHelper, startService } from './children.ts';
import { detail, ratiosOf, scaled, type Effort, type Run } from './comparison.ts';
import {
  costFigures,
  startOnServer,
  withCosts,
  type BenchServer,
  type CostlyRun,
} from './postgresServer.ts';
import { counted, spread, type PartResult } from './report.ts';
import type { Tls } from './sinkClient.ts';
import {
  chatMessages,
  runLoad,
  startBareExpress,
  startWriters,
  teamMessages,
  type Target,
  type Write,
} from './writes.ts';

const PROCESSES = [1, 2];
const CONNECTIONS = 32;
const CALLS = 2400;
const BARE_CALLS = 9600;
const SCHEMA = 'bench_writes';

export async function measureWrites(
  server: BenchServer,
  { caFile }: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const loops = [startHelper('loop.ts'), startHelper('loop.ts')];
  const embedded = await startService(caFile);
  const first = await startOnServer(server, SCHEMA, 'api', caFile, profiles);
  const second = await startOnServer(server, SCHEMA, 'api', caFile);
  const [alone, shared] = [await startWriters(embedded), await startWriters(first)];
  const calls = scaled(CALLS, effort);

  const call = (write: Write, targets: readonly Target[], count: number) =>
    runLoad(loops, write, targets, CONNECTIONS, count);
  const onServer = async (write: Write, n: number): Promise<CostlyRun> => {
    const targets = [first, second].slice(0, n);
    await first.beginProfile();
    const run = await withCosts(server, { 'the API process': targets }, calls, () =>
      call(write, targets, calls),
    );
    await first.endProfile(`a write, ${n} processes`, Math.round(calls / n));
    return run;
  };

  const requests = [
    { name: 'POST /api/conversations/{id}/messages', writeOf: teamMessages },
    { name: 'POST /api/chat/messages', writeOf: chatMessages },
  ].map(({ name, writeOf }) => ({
    name,
    toEmbedded: writeOf(alone),
    toServer: writeOf(shared),
    bare: [] as Run[],
    embedded: [] as Run[],
    onServer: new Map<number, CostlyRun[]>(PROCESSES.map((n) => [n, []])),
  }));
  // Warm-up; and the answers that the bare routes give.
  const answers: string[] = [];
  for (const { toEmbedded, toServer } of requests) {
    answers.push((await call(toEmbedded, [embedded], calls)).answer);
    await onServer(toServer, 2);
  }
  const express = await startBareExpress(answers[0]!, answers[1]!);
  for (const { toEmbedded } of requests)
    await call(toEmbedded, [express], scaled(BARE_CALLS / 4, effort));
  for (let round = 0; round < effort.rounds; round += 1)
    for (const request of requests) {
      const { toEmbedded, toServer } = request;
      request.bare.push(await call(toEmbedded, [express], scaled(BARE_CALLS, effort)));
      request.embedded.push(await call(toEmbedded, [embedded], calls));
      for (const [n, runs] of request.onServer) runs.push(await onServer(toServer, n));
    }
  for (const running of [embedded, first, second, ...loops, express]) await running.stop();

  const compared = requests.flatMap((request) =>
    Array.from(request.onServer, ([n, ours]) => ({
      ...request,
      name: `${request.name}, ${counted(n, 'process')} on PostgreSQL`,
      ours,
      beside:
        n === 1
          ? { other: 'bare Express', theirs: request.bare }
          : { other: '1 process', theirs: request.onServer.get(1)! },
    })),
  );
  return {
    ratios: compared.flatMap(({ name, ours, embedded: theirs, beside }) => [
      ...ratiosOf({ name, ours, other: 'the embedded store', theirs, goals: {} }),
      ...ratiosOf({ name, ours, ...beside, goals: {} }),
    ]),
    figures: compared.flatMap(({ name, ours, embedded: theirs }) => [
      ...costFigures(name, ours),
      ...['p50 ms', 'p99 ms'].map((time) => ({
        name: `${name}: ${time}, beside the embedded store`,
        ours: spread(detail(ours, time)),
        beside: spread(detail(theirs, time)),
      })),
    ]),
    settings: [
      `API writes: ${calls} a run, ${effort.rounds} rounds after a warm-up, over ${CONNECTIONS} connections in all to ${alone.conversations.length} conversations; no subscriptions. Every message is durable when it is answered. With two processes each is called by a loop of its own, on the same two cores.`,
    ],
  };
}
