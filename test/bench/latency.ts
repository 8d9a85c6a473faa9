// The time from a customer's message until its event is at the receivers, for services that get their
// messages in turn.
import { waitFor } from '../helpers/waitFor.ts';
import { startHelper, type RunningService } from './children.ts';
import { write } from './customers.ts';
import { nowMs, type ReceiversQuestion, type ReceiversReport } from './receivers.ts';
import { repeatEvenly } from './repeat.ts';
import type { Tls } from './sinkClient.ts';

export interface Receivers {
  readonly origin: string;
  ask<Answer = null>(question: ReceiversQuestion): Promise<Answer>;
  report(): Promise<ReceiversReport>;
  stop(): Promise<void>;
}

/** A service whose events go to `/ok/<name>/…` of the receivers. */
export interface Side<Name extends string> {
  readonly name: Name;
  readonly service: RunningService;
  readonly customers: readonly string[];
}

export async function startReceivers({ server }: Tls): Promise<Receivers> {
  const helper = startHelper('receivers.ts');
  const ask = <Answer = null>(question: ReceiversQuestion) => helper.ask<Answer>(question);
  const port = await ask<number>({ do: 'listen', certificate: server });
  return {
    origin: `https://localhost:${port}`,
    ask,
    report: () => ask<ReceiversReport>({ do: 'report' }),
    stop: helper.stop,
  };
}

/**
 * Customers write to each side at a steady pace, however fast the services answer.
 * @returns milliseconds for each message and receiver, by side
 */
export async function latencies<Name extends string>(
  sides: readonly Side<Name>[],
  receivers: Receivers,
  {
    messages,
    aSecond,
    receiversEach = 1,
  }: { messages: number; aSecond: number; receiversEach?: number },
): Promise<Readonly<Record<Name, readonly number[]>>> {
  await receivers.ask({ do: 'forgetLatencies' });
  await repeatEvenly(messages * sides.length, aSecond * sides.length, (n) => {
    const { service, customers } = sides[n % sides.length]!;
    const customer = customers[Math.floor(n / sides.length) % customers.length]!;
    return write(service, customer, `Hello, this was sent at ${nowMs()} by the bench`);
  });
  return waitFor(
    'every event to arrive',
    async () => {
      const latenciesMs = (await receivers.report()).latenciesMs as Record<Name, number[]>;
      const hasAll = ({ name }: Side<Name>) =>
        (latenciesMs[name] ?? []).length >= messages * receiversEach;
      return sides.every(hasAll) && latenciesMs;
    },
    { everyMs: 50 },
  );
}
