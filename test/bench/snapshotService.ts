// The service in a process of its own, on a store filled before, that writes one snapshot in the
// middle of a load.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '../../service/src/app/config.ts';
import { collections } from '../../service/src/app/collections.ts';
import { newId } from '../../service/src/platform/ids.ts';
import { startService, type Service } from '../../service/src/app/service.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { answerQuestions } from './children.ts';

export type SnapshotQuestion =
  | {
      readonly do: 'fill';
      readonly folder: string;
      readonly documents: number;
      readonly documentBytes: number;
    }
  /** @property afterBytes how much more the journal grows before the snapshot begins */
  | { readonly do: 'start'; readonly folder: string; readonly afterBytes: number }
  | { readonly do: 'takeDelays' }
  | { readonly do: 'stop' };

/** Delays of the service's event loop since they were last taken. */
export interface Delays {
  /** How late timers fired, for whatever reason. */
  readonly p99Ms: number;
  readonly maxMs: number;
  /**
   * The longest turn of the event loop, in CPU time of this thread, so that other processes do not
   * count.
   */
  readonly longestTurnMs: number;
}

/** What a document's other fields take, about. */
const OTHER_BYTES = 200;

let service: Service | null = null;
let delays: ReturnType<typeof monitorEventLoopDelay> | null = null;
let longestTurnMs = 0;

/**
 * Stores documents in a snapshot, then changes each of them once in the journal after it, which is as
 * much journal as the next snapshot takes.
 */
async function fill({
  folder,
  documents,
  documentBytes,
}: {
  folder: string;
  documents: number;
  documentBytes: number;
}): Promise<null> {
  const store = await openLowdbStore(collections, { folder, snapshotAfterBytes: Infinity });
  const createdAt = new Date().toISOString();
  const ids = Array.from({ length: documents }, () => newId('evt'));
  for (const letter of ['x', 'y']) {
    const body = letter.repeat(documentBytes - OTHER_BYTES);
    for (let n = 0; n < documents; n += 500) {
      await store.transaction(async (tx) => {
        for (const id of ids.slice(n, n + 500))
          await tx.events.put({
            id,
            workspaceId: 'ws_filler',
            name: 'message.received',
            conversationId: null,
            body,
            createdAt,
          });
      });
    }
    if (letter === 'x') await store.forgetHistory();
  }
  await store.close();
  return null;
}

async function start({
  folder,
  afterBytes,
}: {
  folder: string;
  afterBytes: number;
}): Promise<string> {
  const config = readConfig({
    PORT: '0',
    DATA_DIR: folder,
    BOOTSTRAP_API_KEY: `cs_live_${'B'.repeat(32)}`,
    BOOTSTRAP_WORKSPACE: 'Bench',
    API_RATE_LIMIT_PER_MINUTE: '0',
    CHAT_RATE_LIMIT_PER_MINUTE: '0',
    WORKSPACE_RATE_LIMIT_PER_MINUTE: '0',
    ADDRESS_BUDGET: '0',
    LOG_LEVEL: 'silent',
  });
  const journals = readdirSync(folder).filter((name) => name.startsWith('journal-'));
  const present = journals.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  service = await startService(config, { store: { snapshotAfterBytes: present + afterBytes } });
  delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  watchTurns();
  return service.url;
}

function watchTurns(): void {
  let before = cpuMs();
  setInterval(() => {
    const now = cpuMs();
    longestTurnMs = Math.max(longestTurnMs, now - before);
    before = now;
  }, 1);
}

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

function takeDelays(): Delays {
  const taken = { p99Ms: delays!.percentile(99) / 1e6, maxMs: delays!.max / 1e6, longestTurnMs };
  delays!.reset();
  longestTurnMs = 0;
  return taken;
}

answerQuestions((question: SnapshotQuestion) => {
  switch (question.do) {
    case 'fill':
      return fill(question);
    case 'start':
      return start(question);
    case 'takeDelays':
      return takeDelays();
    case 'stop':
      return service?.stop();
  }
});
