// What the service spends on a tool call, and on pages that the team has open while customers write.
import { setTimeout as sleep } from 'node:timers/promises';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../helpers/browserless.ts';
import { cpuMicrosEach, startService, type RunningService } from './children.ts';
import { scaled, type Effort } from './comparison.ts';
import { call, newCustomers, write } from './customers.ts';
import { repeat, repeatEvenly } from './repeat.ts';
import { figure, round, spread, type PartResult } from './report.ts';
import { startSink, type Tls } from './sinkClient.ts';

const CALLS = 800;
const CALLERS = 8;
/** How many pages are open. A member may not have more streams than the last. */
const PAGES = [0, 5, 20];
const MESSAGES_A_SECOND = 10;
const SECONDS = 10;
const CUSTOMERS = 50;

export async function measureTeam(tls: Tls, effort: Effort): Promise<PartResult> {
  const sink = await startSink(tls);
  const service = await startService(tls.caFile, undefined, { env: MEMBER_ENV });
  await sink.ask({ do: 'begin', status: 200 });
  const calls = scaled(CALLS, effort);
  const id = await createTool(service, sink.origin);
  const callMicros: number[] = [];
  await callTool(service, id, calls / 4);
  for (let i = 0; i < effort.rounds; i += 1)
    callMicros.push(await cpuMicrosEach(service.pid, calls, () => callTool(service, id, calls)));

  const customers = await newCustomers(service, CUSTOMERS);
  const member = await signedInBrowser(service.url);
  const messages = scaled(MESSAGES_A_SECOND * SECONDS, effort);
  const byPages = new Map(PAGES.map((count) => [count, { cpu: [] as number[], loads: 0 }]));
  for (let i = 0; i < effort.rounds; i += 1)
    for (const [count, measured] of byPages) {
      const pages = await openPages(service, member, count);
      const writeAll = () =>
        repeatEvenly(messages, MESSAGES_A_SECOND, (n) => write(service, customers[n % CUSTOMERS]!));
      measured.cpu.push(await cpuMicrosEach(service.pid, messages, writeAll));
      measured.loads += (await pages.close()) / effort.rounds;
    }
  await service.stop();
  await sink.stop();
  const seconds = messages / MESSAGES_A_SECOND;
  return {
    ratios: [],
    figures: [
      figure('A tool call: CPU µs', callMicros),
      ...[...byPages].map(([count, { cpu, loads }]) => ({
        name: `${count} open inboxes, ${MESSAGES_A_SECOND} messages a second: CPU µs of a message, beside loads of the list a second`,
        ours: spread(cpu),
        beside: round(loads / seconds),
      })),
    ],
    settings: [
      `Tool calls: test calls over the API, ${CALLERS} at once, ${calls} a run; each is signed, sent over TLS, recorded and answered.`,
      `Open inboxes: one member with so many pages in as many browsers, each with a stream, which loads its list and count again as a browser does; chat messages to ${CUSTOMERS} conversations at an even pace, ${seconds} seconds a run.`,
    ],
  };
}

async function createTool(service: RunningService, origin: string): Promise<string> {
  const tool = {
    name: 'find_order',
    description: 'Finds an order by its number and says where it is.',
    kind: 'Webhook',
    endpoint: `${origin}/tools/find-order`,
    parameters: {
      type: 'object',
      properties: { order_number: { type: 'string' } },
      required: ['order_number'],
    },
  };
  return (await call<{ id: string }>(service, 'POST', '/api/tools', tool)).id;
}

const callTool = (service: RunningService, id: string, count: number) =>
  repeat(
    count,
    async (n) => {
      const question = { arguments: { order_number: `A-${n}` } };
      const path = `/api/tools/${id}/test`;
      const { status } = await call<{ status: string }>(service, 'POST', path, question);
      if (status !== 'succeeded') throw new Error(`a tool call ${status}`);
    },
    CALLERS,
  );

interface OpenPages {
  /** @returns how often their lists were loaded */
  close(): Promise<number>;
}

async function openPages(
  service: RunningService,
  member: Browserless,
  count: number,
): Promise<OpenPages> {
  const ending = new AbortController();
  let loads = 0;
  /** @returns how many milliseconds a page pauses before it loads again */
  const load = async (): Promise<number> => {
    loads += 1;
    const headers = { 'Live-Part': 'yes' };
    const [list] = await Promise.all([
      member.get('/conversations/list', headers),
      member.get('/conversations/count', headers),
    ]);
    return Number(list.headers.get('live-pause'));
  };
  const pages = Array.from({ length: count }, async () => {
    const { body } = await fetch(`${service.url}/live`, {
      headers: { cookie: member.cookie },
      signal: ending.signal,
    });
    let isStale = false;
    let loading: Promise<void> | null = null;
    const loadWhileStale = async () => {
      while (isStale && !ending.signal.aborted) {
        isStale = false;
        await sleep(await load());
      }
      loading = null;
    };
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      if (!chunk.includes('event: conversations')) continue;
      isStale = true;
      loading ??= loadWhileStale();
    }
  });
  for (const page of pages) page.catch(() => {}); // an abort rejects it
  return {
    async close() {
      ending.abort();
      await Promise.allSettled(pages);
      return loads;
    },
  };
}
