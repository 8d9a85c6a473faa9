// The service in a process of its own, on a store that was filled before. It writes one snapshot in
// the middle of a load.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '../../service/src/app/config.ts';
import { collections } from '../../service/src/app/collections.ts';
import { newId } from '../../service/src/platform/ids.ts';
import { startService } from '../../service/src/app/service.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { answerQuestions, SETTINGS } from './children.ts';

export type SnapshotQuestion =
  | { readonly do: 'fill'; readonly folder: string; readonly documents: number }
  /** The snapshot begins when the journal has grown by `afterBytes`. */
  | { readonly do: 'start'; readonly folder: string; readonly afterBytes: number }
  | { readonly do: 'takeDelays' };

/** Delays of the service's event loop since they were last taken. */
export interface Delays {
  /** How late timers fired, for whatever reason. */
  readonly p99Ms: number;
  /**
   * The longest turn of the event loop, in CPU time of this thread: what other processes take does
   * not count.
   */
  readonly longestTurnMs: number;
}

/** An event with such a body is about as large as a usual document. */
const BODY_BYTES = 1_300;

const delays = monitorEventLoopDelay({ resolution: 1 });
let longestTurnMs = 0;

/**
 * Stores documents in a snapshot, then changes each of them once in the journal after it, so that the
 * next snapshot has all of them to write.
 */
async function fill(folder: string, documents: number): Promise<void> {
  const store = await openLowdbStore(collections, { folder, snapshotAfterBytes: Infinity });
  const createdAt = new Date().toISOString();
  const ids = Array.from({ length: documents }, () => newId('evt'));
  for (const letter of ['x', 'y']) {
    const body = letter.repeat(BODY_BYTES);
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
    if (letter === 'x') await store.forgetHistory(); // writes a snapshot
  }
  await store.close();
}

async function start(folder: string, afterBytes: number): Promise<string> {
  const config = readConfig({ ...SETTINGS, PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent' });
  const journals = readdirSync(folder).filter((name) => name.startsWith('journal-'));
  const present = journals.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const store = { snapshotAfterBytes: present + afterBytes };
  const service = await startService(config, { store });
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
  const taken = { p99Ms: delays.percentile(99) / 1e6, longestTurnMs };
  delays.reset();
  longestTurnMs = 0;
  return taken;
}

answerQuestions((question: SnapshotQuestion) => {
  if (question.do === 'fill') return fill(question.folder, question.documents);
  if (question.do === 'start') return start(question.folder, question.afterBytes);
  return takeDelays();
});
