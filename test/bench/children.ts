// The bench's own processes: all in its process group, all gone when it ends, however it ends.
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../helpers/program.ts';
import { profileName } from './profileTable.ts';

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const children = new Set<ChildProcess>();
const folders = new Set<string>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(130));

/** Ends the process with the bench. */
export const adopt = (child: ChildProcess): ChildProcess => {
  children.add(child);
  return child.once('exit', () => children.delete(child));
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

export interface RunningService {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  /** From the start of the process until `/readyz` answered 200. */
  readonly startMs: number;
  /** Begins a CPU profile, when profiles are asked for. */
  beginProfile(): Promise<void>;
  /** Ends and keeps it. @param count how often what was measured happened */
  endProfile(what: string, count: number): Promise<void>;
  /** @param keep.folder leaves the store where it is, for another start */
  stop(keep?: { readonly folder: boolean }): Promise<void>;
}

/**
 * Starts the built service with a store of its own on disk.
 * @param profiles where CPU profiles go; undefined: none
 * @param more.folder holds the store as `data`; a new one when left out
 * @param more.env settings beside the bench's own
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
  const apiKey = `cs_live_${'B'.repeat(32)}`;
  const log = openSync(join(folder, 'service.log'), 'a');
  const startedAt = performance.now();
  const child = adopt(
    spawn(
      process.execPath,
      [
        ...(profiles === undefined ? [] : ['--import', pathOf('profiler.ts')]),
        pathOf('../../service/dist/main.js'),
      ],
      {
        cwd: folder,
        stdio: ['ignore', log, log],
        env: {
          PATH: process.env.PATH,
          PORT: String(port),
          DATA_DIR: join(folder, 'data'),
          ALLOWED_NETWORKS: '127.0.0.0/8',
          NODE_EXTRA_CA_CERTS: caFile,
          BOOTSTRAP_API_KEY: apiKey,
          BOOTSTRAP_WORKSPACE: 'Bench',
          // High, but not 0: the limiter is part of what a request costs.
          API_RATE_LIMIT_PER_MINUTE: '10000000',
          CHAT_RATE_LIMIT_PER_MINUTE: '10000000',
          WORKSPACE_RATE_LIMIT_PER_MINUTE: '10000000',
          ADDRESS_BUDGET: '0',
          BENCH_PROFILES: profiles,
          ...env,
        },
      },
    ),
  );
  closeSync(log);
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const giveUpAt = Date.now() + startWithinMs; !(await isReady()); await sleep(20)) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAt) {
      throw new Error(
        `The service did not start:\n${readFileSync(join(folder, 'service.log'), 'utf8').slice(-2000)}`,
      );
    }
  }
  const startMs = performance.now() - startedAt;
  let number = 0;
  return {
    url,
    apiKey,
    pid: child.pid!,
    startMs,
    async beginProfile() {
      if (profiles === undefined) return;
      child.kill('SIGUSR2');
      await sleep(500);
    },
    async endProfile(what, count) {
      if (profiles === undefined) return;
      child.kill('SIGUSR2');
      number += 1;
      const id = `${child.pid}-${number}`;
      const written = join(profiles, `service-${id}.cpuprofile`);
      while (!existsSync(written)) await sleep(100);
      renameSync(written, join(profiles, profileName(what, count, id)));
    },
    async stop(keep) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      if (!keep?.folder) rmSync(folder, { recursive: true, force: true });
    },
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

/** Seconds of CPU that a process has used, to 10 ms; NaN where /proc does not say. */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}
