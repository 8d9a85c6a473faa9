// The built service in a process of its own, with a retention of seconds. It reports how large its heap
// and its newest snapshot are.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type * as configModule from '../../service/src/app/config.ts';
import type * as serviceModule from '../../service/src/app/service.ts';
import { answerQuestions, SETTINGS } from './children.ts';

export type SteadyQuestion =
  | { readonly do: 'start'; readonly folder: string; readonly keptForMs: number }
  | { readonly do: 'report' }
  | { readonly do: 'stop' };

export interface SteadyReport {
  /** The heap after a garbage collection. */
  readonly heapMb: number;
  /** The newest snapshot; 0 before the first. */
  readonly snapshotBytes: number;
  /** The number of the newest snapshot; 0 before the first. */
  readonly generation: number;
}

const DAY_MS = 86_400_000;

const built = (name: string): Promise<unknown> =>
  import(new URL(`../../service/dist/${name}.js`, import.meta.url).href);
const { readConfig } = (await built('app/config')) as typeof configModule;
const { startService } = (await built('app/service')) as typeof serviceModule;

let service: serviceModule.Service | null = null;
let folder = '';

async function start(dataFolder: string, keptForMs: number): Promise<string> {
  folder = dataFolder;
  const config = readConfig({
    ...SETTINGS,
    PORT: '0',
    DATA_DIR: folder,
    INSECURE_TARGETS: 'true',
    AGENT_QUIET_MS: '0',
    DELIVERY_RETRY_DELAYS_MS: '200,400,800',
    LOG_LEVEL: 'silent',
  });
  const days = keptForMs / DAY_MS;
  service = await startService(config, {
    retention: { days, conversationDays: days },
    housekeepingEveryMs: Math.max(100, keptForMs / 10),
    // Small, since little is stored in so short a time. With the usual sizes the first snapshot would
    // come after minutes.
    store: { snapshotAfterBytes: 1 << 20, keptChanges: 500 },
  });
  return service.url;
}

function report(): SteadyReport {
  globalThis.gc!();
  const generation = Math.max(
    ...readdirSync(folder).map((name) => Number(/^snapshot-(\d+)\.ndjson$/.exec(name)?.[1] ?? 0)),
  );
  const snapshot = statSync(join(folder, `snapshot-${generation}.ndjson`), {
    throwIfNoEntry: false,
  });
  const heapMb = process.memoryUsage().heapUsed / 2 ** 20;
  return { heapMb, snapshotBytes: snapshot?.size ?? 0, generation };
}

answerQuestions<SteadyQuestion>((question) => {
  if (question.do === 'start') return start(question.folder, question.keptForMs);
  if (question.do === 'report') return report();
  return service?.stop();
});
