// What a snapshot of a large store does to writes of the API that go on meanwhile.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';
import { startHelper, temporaryFolder } from './children.ts';
import type { SnapshotQuestion } from './snapshotService.ts';
import { quantile } from './statistics.ts';

export interface SnapshotsOptions {
  /** Stored before; about 1,500 bytes each. Default 100,000. */
  readonly documents?: number;
  /** Messages sent a second, evenly, whether or not the ones before are answered. Default 100. */
  readonly perSecond?: number;
  /** Default 15 before the snapshot. */
  readonly seconds?: number;
}

export interface Latencies {
  readonly writes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface SnapshotsReport {
  readonly documents: number;
  readonly snapshotBytes: number;
  readonly snapshotSeconds: number;
  readonly without: Latencies;
  readonly during: Latencies;
  /** p99 during a snapshot by p99 without; the goal is at most 2. */
  readonly ratio: number;
}

const DOCUMENT_BYTES = 1_500;
/** What the journal grows by for each message, at least. */
const MESSAGE_BYTES = 1_500;

const latencies = (ms: readonly number[]): Latencies => ({ writes: ms.length, p50Ms: quantile(ms, 0.5), p99Ms: quantile(ms, 0.99) });

/** Sends messages at an even pace to a service that holds many documents, through a snapshot and as long again behind it. */
export async function measureSnapshots({ documents = 100_000, perSecond = 100, seconds = 15 }: SnapshotsOptions = {}): Promise<SnapshotsReport> {
  const folder = join(temporaryFolder(), 'data');
  const filler = startHelper('snapshotService.ts');
  await filler.ask<null>({ do: 'fill', folder, documents, documentBytes: DOCUMENT_BYTES } satisfies SnapshotQuestion);
  const helper = startHelper('snapshotService.ts');
  const afterBytes = seconds * perSecond * MESSAGE_BYTES;
  const url = await helper.ask<string>({ do: 'start', folder, afterBytes } satisfies SnapshotQuestion);
  const pool = new Pool(url, { connections: 64 });
  try {
    const token = await newCustomer(pool);
    const [without, during]: [number[], number[]] = [[], []];
    await warmUp(pool, token);
    const began = { at: 0, endedAt: 0 };
    const running = new Set<Promise<void>>();
    const startedAt = performance.now();
    for (let n = 0; began.endedAt === 0 || performance.now() < began.endedAt + seconds * 1000; n += 1) {
      if (n > 100 * perSecond * seconds) throw new Error('no snapshot was begun and finished in time');
      const dueAt = startedAt + (n * 1000) / perSecond;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
      const state = stateOf(folder);
      if (state === 'during' && began.at === 0) began.at = performance.now();
      if (state === 'after' && began.endedAt === 0) began.endedAt = performance.now();
      const one = write(pool, token, n, dueAt).then((ms) => void (state === 'during' ? during : without).push(ms));
      running.add(one);
      void one.finally(() => running.delete(one));
    }
    await Promise.all(running);
    const snapshotBytes = statSync(join(folder, 'snapshot-2.ndjson')).size;
    const report = { without: latencies(without), during: latencies(during) };
    return { documents, snapshotBytes, snapshotSeconds: (began.endedAt - began.at) / 1000, ...report, ratio: report.during.p99Ms / report.without.p99Ms };
  } finally {
    await pool.close();
    await helper.ask<null>({ do: 'stop' } satisfies SnapshotQuestion);
  }
}

const stateOf = (folder: string): 'before' | 'during' | 'after' => {
  const names = readdirSync(folder).filter((name) => name.startsWith('snapshot-2'));
  return names.includes('snapshot-2.ndjson') ? 'after' : names.length > 0 ? 'during' : 'before';
};

async function newCustomer(pool: Pool): Promise<string> {
  const { statusCode, body } = await pool.request({ method: 'POST', path: '/api/chat/sessions', headers: { 'content-type': 'application/json' }, body: '{}' });
  if (statusCode !== 201) throw new Error(`no chat session: ${await body.text()}`);
  return ((await body.json()) as { token: string }).token;
}

async function warmUp(pool: Pool, token: string): Promise<void> {
  for (let n = 0; n < 300; n += 1) await write(pool, token, -1 - n, performance.now());
}

/** @returns how long after its time it was answered: a client that waits counts the waiting too */
async function write(pool: Pool, token: string, n: number, dueAt: number): Promise<number> {
  const body = JSON.stringify({ text: `message ${n}`, client_message_id: `n${n}` });
  const answer = await pool.request({ method: 'POST', path: '/api/chat/messages', headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` }, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 202) throw new Error(`a message was answered ${answer.statusCode}: ${text}`);
  return performance.now() - dueAt;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(await measureSnapshots());
  process.exit(0);
}
