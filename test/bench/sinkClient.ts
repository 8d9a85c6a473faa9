// The bench's receiver as its measuring programs use it.
import { CPU_EACH, type Run } from './comparison.ts';
import { startHelper, type Helper } from './children.ts';
import type { SinkQuestion, SinkReport } from './sink.ts';

/** A private authority and a certificate for localhost. */
export interface Tls {
  readonly ca: string;
  readonly caFile: string;
  readonly server: { key: string; cert: string };
}

export interface Sink {
  readonly helper: Helper;
  readonly origin: string;
  ask<Answer = null>(question: SinkQuestion): Promise<Answer>;
  report(): Promise<SinkReport>;
}

export async function startSink({ server }: Tls): Promise<Sink> {
  const helper = startHelper('sink.ts');
  const ask = <Answer = null>(question: SinkQuestion) => helper.ask<Answer>(question);
  const port = await ask<number>({ do: 'listen', certificate: server });
  return {
    helper,
    origin: `https://localhost:${port}`,
    ask,
    report: () => ask<SinkReport>({ do: 'report' }),
  };
}

/** What arrived between two reports, as a run of the sender. */
export function atSink(
  before: SinkReport,
  after: SinkReport,
  expected: number,
  senderCpuSeconds: number,
): Run {
  if (after.received !== expected)
    throw new Error(`the sink received ${after.received} requests instead of ${expected}`);
  return {
    perSecond: after.counted / after.seconds,
    details: {
      [CPU_EACH]: (senderCpuSeconds / after.counted) * 1e6,
      'sink CPU µs each': ((after.cpuSeconds - before.cpuSeconds) / after.counted) * 1e6,
      'gap p99 ms': after.p99GapMs,
      'longest gap ms': after.longestGapMs,
    },
  };
}

/** The headers of the last request that came, without those that belong to its connection. */
export function headersOf({ last }: SinkReport): Record<string, string> {
  const { rawHeaders } = last!;
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!['host', 'connection', 'content-length'].includes(name))
      headers[name] = rawHeaders[i + 1]!;
  }
  return headers;
}
