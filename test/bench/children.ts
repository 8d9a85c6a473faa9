// The processes and folders of the bench. They are all gone when it ends, however it ends.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, startProgram } from '../helpers/program.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { profileName } from './profileTable.ts';

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

interface Child {
  kill(signal: 'SIGKILL'): unknown;
}

const children = new Set<Child>();
const folders = new Set<string>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(130));

/** Has the process killed when the bench ends. */
export const adopt = <Adopted extends Child>(child: Adopted): Adopted => {
  children.add(child);
  return child;
};

export const removeAtEnd = (folder: string): string => {
  folders.add(folder);
  return folder;
};

/** A folder that is removed when the bench ends. */
export const temporaryFolder = (): string =>
  removeAtEnd(mkdtempSync(join(tmpdir(), 'conversation-service-bench-')));

/** A program of this folder that answers each question with one message. */
export interface Helper {
  readonly pid: number;
  ask<Answer>(question: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** @param nodeOptions such as `--expose-gc` */
export function startHelper(
  script: string,
  nodeOptions: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Helper {
  const child = adopt(
    fork(pathOf(script), {
      execArgv: [...process.execArgv, ...nodeOptions],
      env: { ...process.env, ...env },
    }),
  );
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${script} ended`);
  });
  gone.catch(() => {});
  return {
    pid: child.pid!,
    async ask<Answer>(question: unknown) {
      const answered = once(child, 'message');
      child.send(question as object);
      const [answer] = await Promise.race([answered, gone]);
      return answer as Answer;
    },
    async stop() {
      child.kill('SIGKILL');
      await gone.catch(() => {});
    },
  };
}

/** The other side of a helper: answers each question with what `answer` gives. */
export function answerQuestions<Question>(answer: (question: Question) => unknown): void {
  process.on('message', async (question: Question) => {
    try {
      process.send!((await answer(question)) ?? null);
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  });
  process.on('disconnect', () => process.exit());
}

/** Settings of every service of the bench. */
export const SETTINGS = {
  BOOTSTRAP_API_KEY: `cs_live_${'B'.repeat(32)}`,
  BOOTSTRAP_WORKSPACE: 'Bench',
  ALLOWED_NETWORKS: '127.0.0.0/8',
  // High, but not 0: the limiter is part of what a request costs.
  API_RATE_LIMIT_PER_MINUTE: '10000000',
  CHAT_RATE_LIMIT_PER_MINUTE: '10000000',
  WORKSPACE_RATE_LIMIT_PER_MINUTE: '10000000',
  ADDRESS_BUDGET: '0',
};

export interface RunningService {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  /** From the start of the process until `/readyz` answered 200. */
  readonly startMs: number;
  /** Begins a CPU profile, if profiles are wanted. */
  beginProfile(): Promise<void>;
  /** Ends the profile and keeps it. @param count how often `what` happened in it */
  endProfile(what: string, count: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the built service with a store of its own on disk.
 * @param profiles the folder for CPU profiles; undefined: there are none
 * @param options.folder holds the store as `data`; a new one when left out
 * @param options.env settings besides the bench's own
 */
export async function startService(
  caFile: string,
  profiles?: string,
  {
    folder = temporaryFolder(),
    startWithinMs = 15_000,
    env = {},
  }: { folder?: string; startWithinMs?: number; env?: Readonly<Record<string, string>> } = {},
): Promise<RunningService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const program = adopt(
    await startProgram({
      name: 'The service',
      script: pathOf('../../service/dist/main.js'),
      cwd: folder,
      logFile: join(folder, 'service.log'),
      env: {
        ...SETTINGS,
        PORT: String(port),
        DATA_DIR: join(folder, 'data'),
        DATABASE_URL: undefined, // the tests may have one
        NODE_EXTRA_CA_CERTS: caFile,
        NODE_OPTIONS: profiles && `--import=${pathOf('profiler.ts')}`,
        BENCH_PROFILES: profiles,
        ...env,
      },
    }),
  );
  const isReady = () => fetch(`${url}/readyz`).then(({ ok }) => ok);
  await program.ready(isReady, { timeoutMs: startWithinMs });
  const startMs = performance.now() - startedAt;
  const { pid } = program;
  let number = 0;
  return {
    url,
    apiKey: SETTINGS.BOOTSTRAP_API_KEY,
    pid,
    startMs,
    async beginProfile() {
      if (profiles === undefined) return;
      process.kill(pid, 'SIGUSR2');
      await sleep(500);
    },
    async endProfile(what, count) {
      if (profiles === undefined) return;
      process.kill(pid, 'SIGUSR2');
      number += 1;
      const id = `${pid}-${number}`;
      const written = join(profiles, `service-${id}.cpuprofile`);
      await waitFor('the profile', () => existsSync(written));
      renameSync(written, join(profiles, profileName(what, count, id)));
    },
    stop: () => program.stop(),
  };
}

/** Resident memory in bytes; NaN where /proc does not say. */
export function residentBytes(pid: number): number {
  try {
    return (
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
    );
  } catch {
    return Number.NaN;
  }
}

const TICKS_A_SECOND = 100;

/** What /proc/<pid>/stat says of a process. */
export function statOf(pid: number | string) {
  // The second field is the program's name, which may hold spaces.
  const fromThird = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  /** A field by its number in proc(5). */
  const field = (number: number) => Number(fromThird[number - 3]);
  return {
    parentPid: field(4),
    /** User and system time. */
    cpuSeconds: (field(14) + field(15)) / TICKS_A_SECOND,
    /** Of the children that have ended. */
    endedCpuSeconds: (field(16) + field(17)) / TICKS_A_SECOND,
  };
}

/** Seconds of CPU that processes have used, to 10 ms; NaN where /proc does not say. */
export function cpuSeconds(...pids: readonly number[]): number {
  try {
    return pids.reduce((sum, pid) => sum + statOf(pid).cpuSeconds, 0);
  } catch {
    return Number.NaN;
  }
}

/** @returns the microseconds of CPU that the process uses during `work`, divided by `count` */
export async function cpuMicrosEach(
  pid: number,
  count: number,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = cpuSeconds(pid);
  await work();
  return ((cpuSeconds(pid) - before) / count) * 1e6;
}
