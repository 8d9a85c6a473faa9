// Events of real customers: each a message over the API with its one signed delivery, received and
// recorded.
import { cpuMicrosEach, type RunningService } from './children.ts';
import { newCustomers, waitUntilRecorded, subscribe, writeMany } from './customers.ts';
import type { Sink } from './sinkClient.ts';

export interface EventSource {
  readonly service: RunningService;
  /** The subscription's id. */
  readonly hook: string;
  readonly customers: readonly string[];
}

/** @param name ends the path of the subscription at the sink */
export async function startEvents(
  service: RunningService,
  sink: Sink,
  name: number,
): Promise<EventSource> {
  const hook = await subscribe(service, 'message.received', `${sink.origin}/hooks/${name}`);
  return { service, hook, customers: await newCustomers(service) };
}

/** @returns microseconds of an event: on the clock, and of the service's CPU */
export async function runEvents(
  { service, hook, customers }: EventSource,
  sink: Sink,
  count: number,
): Promise<{ readonly wall: number; readonly cpu: number }> {
  await sink.ask({ do: 'begin', status: 200 });
  const startedAt = performance.now();
  const cpu = await cpuMicrosEach(service.pid, count, async () => {
    await writeMany(service, customers, count);
    await sink.ask({ do: 'await', count });
    await waitUntilRecorded(service, [hook]);
  });
  return { wall: ((performance.now() - startedAt) / count) * 1000, cpu };
}
