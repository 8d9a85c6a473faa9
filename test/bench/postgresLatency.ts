// From a customer's message to its event at the receiver, at a low rate: one API process and one
// worker on PostgreSQL, beside the embedded store.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHelper, startService, type RunningService } from './children.ts';
import type { Effort } from './comparison.ts';
import { call, newCustomer, subscribe } from './customers.ts';
import { startOnServer, type BenchServer } from './postgresServer.ts';
import { nowMs, type ReceiversQuestion, type ReceiversReport } from './receivers.ts';
import type { Tls } from './sinkClient.ts';

/** To each side. */
export const MESSAGES_A_SECOND = 5;
const MESSAGES = 60;
const CUSTOMERS = 4;
const ARRIVED_WITHIN_MS = 30_000;
const SCHEMA = 'bench_latency';

export interface LatencyRuns {
  /** In milliseconds, a list for each round. */
  readonly embedded: readonly (readonly number[])[];
  readonly postgres: readonly (readonly number[])[];
}

type SideName = keyof LatencyRuns;

interface Side {
  readonly name: SideName;
  readonly service: RunningService;
  readonly customers: readonly string[];
}

export async function runLatency(
  server: BenchServer,
  tls: Tls,
  { rounds, share }: Effort,
): Promise<LatencyRuns> {
  const receivers = startHelper('receivers.ts');
  const origin = `https://localhost:${await receivers.ask<number>({ do: 'listen', certificate: tls.server } satisfies ReceiversQuestion)}`;
  const api = await startOnServer(server, SCHEMA, 'api', tls.caFile);
  const worker = await startOnServer(server, SCHEMA, 'worker', tls.caFile);
  const sides = [
    await startSide('embedded', await startService(tls.caFile), origin),
    await startSide('postgres', api, origin),
  ];
  const count = Math.max(10, Math.round(MESSAGES * share));
  const runs: Record<SideName, number[][]> = { embedded: [], postgres: [] };
  await measure(sides, receivers, 10); // opens connections
  for (let round = 0; round < rounds; round += 1) {
    const times = await measure(sides, receivers, count);
    for (const { name } of sides) runs[name].push([...times[name]]);
  }
  for (const { service } of [...sides, { service: worker }]) await service.stop();
  await receivers.stop();
  return runs;
}

async function startSide(name: SideName, service: RunningService, origin: string): Promise<Side> {
  await subscribe(service, 'message.received', `${origin}/ok/${name}/0`);
  return {
    name,
    service,
    customers: await Promise.all(Array.from({ length: CUSTOMERS }, () => newCustomer(service))),
  };
}

/** The sides in turn, at an even pace. */
async function measure(
  sides: readonly Side[],
  receivers: ReturnType<typeof startHelper>,
  count: number,
): Promise<Record<SideName, readonly number[]>> {
  const report = async () =>
    (await receivers.ask<ReceiversReport>({ do: 'report' } satisfies ReceiversQuestion))
      .latenciesMs;
  const before = await report();
  const startedAt = nowMs();
  const written: Promise<unknown>[] = [];
  for (let i = 0; i < count; i += 1) {
    for (const [turn, { service, customers }] of sides.entries()) {
      await sleep(
        Math.max(0, startedAt + ((i + turn / sides.length) * 1000) / MESSAGES_A_SECOND - nowMs()),
      );
      const message = {
        text: `Hello, this was sent at ${nowMs()} by the bench`,
        client_message_id: randomUUID(),
      };
      written.push(
        call(service, 'POST', '/api/chat/messages', message, customers[i % customers.length]!),
      );
    }
  }
  await Promise.all(written);
  for (const giveUpAt = nowMs() + ARRIVED_WITHIN_MS; ; await sleep(50)) {
    const after = await report();
    const since = (name: SideName) => after[name]?.slice(before[name]?.length ?? 0) ?? [];
    if (sides.every(({ name }) => since(name).length >= count))
      return { embedded: since('embedded'), postgres: since('postgres') };
    if (nowMs() > giveUpAt) throw new Error('not every event arrived');
  }
}
