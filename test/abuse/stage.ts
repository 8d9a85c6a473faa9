// A service with its limits as shipped, an honest tenant beside a hostile one, and what is looked
// at after each attack.
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
import { startBeside, type BesideParts, type Times } from './beside.ts';
import { ATTACK_SECONDS, BEFORE_MS } from './size.ts';
import { addToSummary } from './summary.ts';
import { prepareTenants, tenantAt, type Tenant, type Tenants } from './tenants.ts';

const MIB = 1024 * 1024;
const WARM_UP_MS = 1500;

/** The peer that is trusted as a proxy; any other address of 127.0.0.0/8 is a stranger's own. */
const PROXIES = '127.0.0.1/32,::1/128';

/**
 * After an attack the service holds at most this much more than before: code that ran for the first
 * time, pools, what was honestly stored.
 */
const MAY_GROW_BY = 1.25;
const MAY_GROW_MIB = 24;
const MEMORY_BACK_MS = 90_000;

export interface StageOptions
  extends Pick<BesideParts, 'mayRefuse'>,
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
   * @param besides goes on while the attacker does; the honest load lasts at least as long
   * @returns what the attacker counted
   */
  attack(
    title: string,
    name: string,
    args?: object,
    besides?: (attacker: Attacker) => Promise<unknown>,
  ): Promise<Counts>;
  /** As `attack`, made by the test itself. */
  attackBy(title: string, run: () => Promise<Counts>): Promise<Counts>;
  /**
   * Checks that memory is back, a restart and a crash lose nothing, and nothing honest was refused.
   * @param mayGrowMiB what the attack may leave stored
   */
  settle(options?: { readonly mayGrowMiB?: number }): Promise<void>;
}

/** A stage for one attack, closed whatever happens. */
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
  const beside = await startBeside({ url, tenant: tenants.honest, receiver, endpoint, mayRefuse });
  let liveBefore = 0;

  /** Bytes of objects and buffers that are in use, after a collection. */
  const live = async (): Promise<number> => {
    await rm(memoryFile, { force: true });
    process.kill(service.pid, 'SIGUSR2');
    const text = await waitFor('the measure of memory', () => readFile(memoryFile, 'utf8'), {
      timeoutMs: 60_000,
    });
    const { heapUsed, external } = JSON.parse(text) as NodeJS.MemoryUsage;
    return heapUsed + external;
  };
  // Code is slower when it runs for the first time, which must not count on either side of a ratio.
  await beside.run(WARM_UP_MS);
  const attackBy = async (title: string, run: () => Promise<Counts>): Promise<Counts> => {
    const before = await beside.run(BEFORE_MS);
    liveBefore = await live();
    const rssBefore = await memoryOf(service.pid);
    let counts: Counts | null = null;
    let during: Times | null = null;
    try {
      const running = run();
      during = await beside.run(Promise.allSettled([running, sleep(BEFORE_MS)]));
      counts = await running;
      return counts;
    } finally {
      const counted = Object.entries(counts ?? {}).map(([what, count]) => `${count} × ${what}`);
      const rss = await memoryOf(service.pid);
      const bounds = await boundsReached(url);
      addToSummary({
        attack: title,
        before: during && before,
        during,
        notes: [
          `attacker: ${counted.join(', ') || 'was not done'}`,
          `resident memory: ${rssBefore.now} MiB before, at most ${rss.most} MiB; bounds reached: ${bounds.join(', ') || 'none'}`,
          ...(beside.faults.length === 0
            ? []
            : [
                `HONEST REQUESTS REFUSED OR LOST: ${beside.faults.length}, such as ${beside.faults[0]}`,
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
    attack: (title, name, args = {}, besides = async () => {}) =>
      attackBy(title, async () => {
        const attacker = await startAttacker(name, {
          url,
          seconds: ATTACK_SECONDS,
          workspace: tenants.hostile.slug,
          ...args,
        });
        try {
          await besides(attacker);
          return await attacker.ended;
        } finally {
          await attacker.kill();
        }
      }),
    async settle({ mayGrowMiB = MAY_GROW_MIB } = {}) {
      await beside.allDelivered();
      expect(await beside.missing()).toEqual([]);
      const most = liveBefore * MAY_GROW_BY + mayGrowMiB * MIB;
      let now = 0;
      await waitFor('memory to be back', async () => (now = await live()) <= most, {
        timeoutMs: MEMORY_BACK_MS,
        everyMs: 500,
      }).catch((error: unknown) => {
        throw new Error(
          `${mib(now)} MiB are in use after the attack, and were ${mib(liveBefore)} MiB before it`,
          { cause: error },
        );
      });
      for (const begin of [() => service.restart(), () => service.crashAndRestart()]) {
        await begin();
        expect(await beside.missing()).toEqual([]);
        await beside.write();
      }
      await beside.allDelivered();
      expect({ faults: beside.faults, atReceiver: receiver.faults }).toEqual({
        faults: [],
        atReceiver: [],
      });
    },
  });
}

const mib = (bytes: number) => Math.round(bytes / MIB);

/** `name count`, of all bounds that were reached. */
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
