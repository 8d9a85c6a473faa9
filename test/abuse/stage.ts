// A service with its limits as shipped, an honest tenant beside a hostile one, and the checks after
// each attack.
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startEventReceiver } from '../helpers/eventReceiver.ts';
import { parseMetrics } from '../helpers/metrics.ts';
import { memoryOf } from '../helpers/processMemory.ts';
import {
  startServiceProcess,
  type ServiceOptions,
  type ServiceProcess,
} from '../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles } from '../helpers/tls.ts';
import { startToolEndpoint, type ToolEndpoint } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { startAttacker, type Attacker, type Counts } from './attacker.ts';
import { startHonestLoad, type HonestLoadParts, type Times } from './honestLoad.ts';
import { ATTACK_SECONDS, BEFORE_MS } from './size.ts';
import { addToSummary } from './summary.ts';
import { prepareTenants, tenantAt, type Tenant, type Tenants } from './tenants.ts';

const MIB = 1024 * 1024;
const WARM_UP_MS = 1500;

/** The peers that are trusted as a proxy. Any other address of 127.0.0.0/8 is a stranger's own. */
const PROXIES = '127.0.0.1/32,::1/128';

/**
 * How much more memory than before the service may use after an attack: for code that ran for the
 * first time, for pools, and for what was honestly stored.
 */
const MAX_GROWTH_FACTOR = 1.25;
const MAX_GROWTH_MIB = 24;
const MEMORY_BACK_MS = 90_000;

export interface StageOptions
  extends Pick<HonestLoadParts, 'mayRefuse'>,
    Pick<ServiceOptions, 'env' | 'launcher'> {
  /** Keys of the hostile workspace beside its first one. */
  readonly hostileKeys?: number;
}

export interface Stage {
  readonly service: ServiceProcess;
  readonly tenants: Tenants<Tenant>;
  readonly endpoint: ToolEndpoint;
  /**
   * Measures the honest tenant without the attack, then with it.
   * @param name of a file in attacks/
   * @param alongside what the test does while the attacker runs; the honest load lasts at least as
   * long
   * @returns what the attacker counted
   */
  attack(
    title: string,
    name: string,
    args?: object,
    alongside?: (attacker: Attacker) => Promise<unknown>,
  ): Promise<Counts>;
  /** Like `attack`, but the test itself makes the attack. */
  attackBy(title: string, run: () => Promise<Counts>): Promise<Counts>;
  /**
   * Expects that memory is freed again, that a restart and a crash lose nothing, and that nothing
   * honest was refused.
   * @param mayGrowMiB how much the attack may leave stored
   */
  expectNoHarm(options?: { readonly mayGrowMiB?: number }): Promise<void>;
}

/** Sets the stage for one attack, and closes it whatever happens. */
export async function onStage(
  { env = {}, launcher, hostileKeys = 0, mayRefuse }: StageOptions,
  act: (stage: Stage) => Promise<void>,
): Promise<void> {
  await using started = new AsyncDisposableStack();
  const tls = started.adopt(await writeTlsFiles(await sharedTestCa()), (files) => files.remove());
  const receiver = started.adopt(await startEventReceiver(), (each) => each.close());
  const endpoint = started.adopt(await startToolEndpoint(), (each) => each.close());
  const memoryFile = join(tmpdir(), `memory-${randomUUID()}`);
  started.defer(() => rm(memoryFile, { force: true }));
  let prepared: Awaited<ReturnType<typeof prepareTenants>> | undefined;
  const service = started.adopt(
    await startServiceProcess({
      caFile: tls.caFile,
      hasLimits: true,
      launcher,
      prepare: async (store) => {
        prepared = await prepareTenants(store, hostileKeys);
      },
      env: {
        TRUSTED_PROXIES: PROXIES,
        DATABASE_CONNECTIONS: '',
        ABUSE_MEMORY_FILE: memoryFile,
        ...env,
        NODE_OPTIONS: `--import=${new URL('./memory.mjs', import.meta.url).href} ${env.NODE_OPTIONS ?? ''}`,
      },
    }),
    (each) => each.close(),
  );
  const { url } = service;
  const tenants = {
    honest: tenantAt(url, prepared!.honest),
    hostile: tenantAt(url, prepared!.hostile),
  };
  const honestLoad = await startHonestLoad({
    url,
    tenant: tenants.honest,
    receiver,
    endpoint,
    mayRefuse,
  });
  let inUseBefore = 0;

  /** The bytes of objects and buffers in use after a garbage collection. */
  const memoryInUse = async (): Promise<number> => {
    await rm(memoryFile, { force: true });
    process.kill(service.pid, 'SIGUSR2');
    const text = await waitFor('the measure of memory', () => readFile(memoryFile, 'utf8'), {
      timeoutMs: 60_000,
    });
    const { heapUsed, external } = JSON.parse(text) as NodeJS.MemoryUsage;
    return heapUsed + external;
  };
  // Code is slower when it runs for the first time. That must not count on either side of a ratio.
  await honestLoad.run(WARM_UP_MS);
  const attackBy = async (title: string, run: () => Promise<Counts>): Promise<Counts> => {
    const before = await honestLoad.run(BEFORE_MS);
    inUseBefore = await memoryInUse();
    const rssBefore = await memoryOf(service.pid);
    let counts: Counts | null = null;
    let during: Times | null = null;
    try {
      const running = run();
      during = await honestLoad.run(Promise.allSettled([running, sleep(BEFORE_MS)]));
      counts = await running;
      return counts;
    } finally {
      const counted = Object.entries(counts ?? {}).map(([what, count]) => `${count} × ${what}`);
      const rss = await memoryOf(service.pid);
      const bounds = await boundsReached(url);
      addToSummary({
        attack: title,
        before,
        during,
        notes: [
          `attacker: ${counted.join(', ') || 'counted nothing'}`,
          `resident memory: ${rssBefore.now} MiB before, at most ${rss.most} MiB; bounds reached: ${bounds.join(', ') || 'none'}`,
          ...(honestLoad.faults.length === 0
            ? []
            : [
                `HONEST REQUESTS REFUSED OR LOST: ${honestLoad.faults.length}, such as ${honestLoad.faults[0]}`,
              ]),
        ],
      });
    }
  };

  await act({
    service,
    tenants,
    endpoint,
    attackBy,
    attack: (title, name, args = {}, alongside = async () => {}) =>
      attackBy(title, async () => {
        const attacker = await startAttacker(name, {
          url,
          seconds: ATTACK_SECONDS,
          workspace: tenants.hostile.slug,
          ...args,
        });
        try {
          await alongside(attacker);
          return await attacker.ended;
        } finally {
          await attacker.kill();
        }
      }),
    async expectNoHarm({ mayGrowMiB = MAX_GROWTH_MIB } = {}) {
      await honestLoad.allDelivered();
      expect(await honestLoad.missing()).toEqual([]);
      const mostBytes = inUseBefore * MAX_GROWTH_FACTOR + mayGrowMiB * MIB;
      let now = 0;
      await waitFor('memory to be back', async () => (now = await memoryInUse()) <= mostBytes, {
        timeoutMs: MEMORY_BACK_MS,
        everyMs: 500,
      }).catch((error: unknown) => {
        throw new Error(
          `${mib(now)} MiB are in use after the attack, and were ${mib(inUseBefore)} MiB before it`,
          { cause: error },
        );
      });
      for (const restart of [() => service.restart(), () => service.crashAndRestart()]) {
        await restart();
        expect(await honestLoad.missing()).toEqual([]);
        await honestLoad.write();
      }
      await honestLoad.allDelivered();
      expect({ faults: honestLoad.faults, atReceiver: receiver.faults }).toEqual({
        faults: [],
        atReceiver: [],
      });
    },
  });
}

const mib = (bytes: number) => Math.round(bytes / MIB);

/** All bounds that were reached, as `name count`. */
async function boundsReached(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(20_000) }).catch(
    () => null,
  );
  if (answer === null) return ['(no metrics)'];
  const { text } = parseMetrics(await answer.text());
  return [...text.matchAll(/^conversation_service_bound_reached_total\{bound="(\w+)"\} (\d+)$/gm)]
    .filter(([, , count]) => count !== '0')
    .map(([, name, count]) => `${name} ${count}`);
}
