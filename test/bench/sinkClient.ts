// The bench's receiver, as its measurements use it.
import { CPU_EACH, type Run } from './comparison.ts';
import { cpuSeconds, startHelper } from './children.ts';
import type { LoopQuestion } from './loop.ts';
import type { SinkQuestion, SinkReport } from './sink.ts';

/** A private authority and a certificate for localhost. */
export interface Tls {
  readonly ca: string;
  readonly caFile: string;
  readonly server: { key: string; cert: string };
}

export interface Sink {
  readonly origin: string;
  ask<Answer = null>(question: SinkQuestion): Promise<Answer>;
  report(): Promise<SinkReport>;
  stop(): Promise<void>;
}

export async function startSink({ server }: Tls): Promise<Sink> {
  const helper = startHelper('sink.ts');
  const ask = <Answer = null>(question: SinkQuestion) => helper.ask<Answer>(question);
  const port = await ask<number>({ do: 'listen', certificate: server });
  return {
    origin: `https://localhost:${port}`,
    ask,
    report: () => ask<SinkReport>({ do: 'report' }),
    stop: helper.stop,
  };
}

/**
 * Measures a run of the sender by what arrives at the sink while `send` runs.
 * @param pids of the sender
 */
export async function runInto(
  sink: Sink,
  count: number,
  pids: readonly number[],
  send: () => Promise<unknown>,
): Promise<Run> {
  const before = await sink.report();
  const cpuBefore = cpuSeconds(...pids);
  await send();
  const cpu = cpuSeconds(...pids) - cpuBefore;
  const after = await sink.report();
  if (after.received !== count)
    throw new Error(`the sink received ${after.received} requests instead of ${count}`);
  return {
    perSecond: after.counted / after.seconds,
    details: {
      [CPU_EACH]: (cpu / after.counted) * 1e6,
      'sink CPU µs each': ((after.cpuSeconds - before.cpuSeconds) / after.counted) * 1e6,
      'gap p99 ms': after.p99GapMs,
      'longest gap ms': after.longestGapMs,
    },
  };
}

/** Lets the sink answer what it holds, and waits for the rest of the backlog. */
export const emptyBacklog = (sink: Sink, count: number, pids: readonly number[]): Promise<Run> =>
  runInto(sink, count, pids, async () => {
    await sink.ask({ do: 'release' });
    await sink.ask({ do: 'await', count });
  });

/** The last request that came, without the headers that belong to its connection. */
export async function lastRequest(sink: Sink): Promise<Pick<LoopQuestion, 'headers' | 'body'>> {
  const { rawHeaders, body } = (await sink.report()).last!;
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!['host', 'connection', 'content-length'].includes(name))
      headers[name] = rawHeaders[i + 1]!;
  }
  return { headers, body };
}
