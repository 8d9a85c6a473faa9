// Writes through the API, as an undici loop sends them to the service and to bare Express.
import { cpuSeconds, startHelper, type Helper, type RunningService } from './children.ts';
import { CPU_EACH, type Run } from './comparison.ts';
import { MESSAGE_TEXT, newCustomers, write } from './customers.ts';
import { FRESH_ID, type LoopQuestion, type LoopReport } from './loop.ts';
import { repeat } from './repeat.ts';

export type Write = Pick<LoopQuestion, 'paths' | 'tokens' | 'body' | 'expectedStatus'>;

/** Customers of a service, each with a conversation. */
export interface Writers {
  readonly service: RunningService;
  readonly customers: readonly string[];
  readonly conversations: readonly string[];
}

export async function startWriters(service: RunningService, count = 16): Promise<Writers> {
  const customers = await newCustomers(service, count);
  const conversations = await repeat(count, (n) => write(service, customers[n]!));
  return { service, customers, conversations };
}

export const onConversations = (
  { service, conversations }: Writers,
  verb: string,
  body: object,
  expectedStatus: number,
): Write => ({
  paths: conversations.map((id) => `/api/conversations/${id}/${verb}`),
  tokens: [service.apiKey],
  body: JSON.stringify(body),
  expectedStatus,
});

export const teamMessages = (writers: Writers): Write =>
  onConversations(writers, 'messages', { text: MESSAGE_TEXT }, 201);

export const chatMessages = ({ customers }: Writers): Write => ({
  paths: ['/api/chat/messages'],
  tokens: customers,
  body: JSON.stringify({ text: MESSAGE_TEXT, client_message_id: FRESH_ID }),
  expectedStatus: 202,
});

/** A server with its process. */
export type Target = Pick<RunningService, 'url' | 'pid'>;

/** Calls all targets at the same time, each from its own loop with its share of the calls. */
export async function runLoad(
  loops: readonly Helper[],
  write: Write,
  targets: readonly Target[],
  connections: number,
  calls: number,
): Promise<Run & { readonly answer: string }> {
  const pids = targets.map(({ pid }) => pid);
  const cpuBefore = cpuSeconds(...pids);
  const reports = await Promise.all(
    targets.map(({ url }, i) =>
      loops[i]!.ask<LoopReport>({
        ...write,
        headers: { 'content-type': 'application/json' },
        origin: url,
        connections: connections / targets.length,
        count: calls / targets.length,
      } satisfies LoopQuestion),
    ),
  );
  const cpu = cpuSeconds(...pids) - cpuBefore;
  return {
    perSecond: targets.length * Math.min(...reports.map(({ perSecond }) => perSecond)),
    answer: reports[0]!.answer,
    details: {
      [CPU_EACH]: (cpu / calls) * 1e6,
      'p50 ms': Math.max(...reports.map(({ p50Ms }) => p50Ms)),
      'p99 ms': Math.max(...reports.map(({ p99Ms }) => p99Ms)),
    },
  };
}

/** Starts bare Express routes that give the service's answers. */
export async function startBareExpress(
  teamAnswer: string,
  chatAnswer: string,
): Promise<Target & Pick<Helper, 'stop'>> {
  const { ask, pid, stop } = startHelper('bareExpress.ts');
  return { url: `http://127.0.0.1:${await ask<number>({ teamAnswer, chatAnswer })}`, pid, stop };
}
