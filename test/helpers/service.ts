import type { Logger } from 'pino';
import { readConfig } from '../../service/src/app/config.ts';
import { systemClock, type Clock, type SteadyClock } from '../../service/src/platform/clock.ts';
import { createApiKey } from '../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../service/src/team/operations/team.ts';
import { startService, type Service, type StartOptions } from '../../service/src/app/service.ts';
import type { ServiceStore } from '../../service/src/store/collections.ts';
import { apiClient, type ApiClient } from './apiClient.ts';
import { openStoreOf } from './openStore.ts';
import { NO_LIMITS } from './settings.ts';
import { freshStorage, type Storage } from './storage.ts';
import { databaseClock, MovedClock, steadied } from './testClock.ts';

/** Hashes passwords at next to no cost. */
const CHEAP_PASSWORDS = new URL('./cheapPasswords.child.ts', import.meta.url);

/** 8 + 32 characters, as a real key; used by tests only. */
export const TEST_API_KEY = `cs_live_${'T'.repeat(32)}`;

export interface TestService {
  readonly url: string;
  readonly apiKey: string;
  /** Calls with the bootstrap key; every answer is checked against the contract. */
  readonly api: ApiClient;
  readonly folder: string;
  readonly setupUrl: string | null;
  /**
   * All that it has stored, as text: every file of its folder, and with a database every value in
   * its schema.
   */
  stored(): Promise<string>;
  /**
   * Stops it and starts it again on the same data, possibly with other settings; the port changes.
   */
  restart(env?: Record<string, string>): Promise<void>;
  /** Stops it, changes what it stored and starts it again; the port changes. */
  changeStored<T>(change: (store: ServiceStore) => Promise<T>): Promise<T>;
  /**
   * Makes one more workspace while the service is stopped. @returns calls with a key of that
   * workspace
   */
  addWorkspace(name: string): Promise<ApiClient>;
  /** Stops it and removes what it stored. */
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  /** Environment variables beside the tests' own. */
  readonly env?: Record<string, string | undefined>;
  /** When a clock with `now` alone is moved, that counts as time passing. */
  readonly clock?: Clock & Partial<SteadyClock>;
  /** A CA (PEM) that outbound calls trust beside the system's. */
  readonly ca?: string;
  readonly log?: Logger;
  readonly store?: StartOptions['store'];
  readonly server?: StartOptions['server'];
  readonly housekeepingEveryMs?: number;
  /** Default: one that hashes at next to no cost. Undefined: the service's own. */
  readonly passwordThread?: StartOptions['passwordThread'];
  readonly paymentWait?: StartOptions['paymentWait'];
}

/**
 * What a test's service is told by its environment: one workspace with a key, short retries, no
 * rate limits.
 */
export const testSettings = ({ env }: Pick<Storage, 'env'>) => ({
  PORT: '0',
  ...env,
  ALLOWED_NETWORKS: '127.0.0.0/8',
  BOOTSTRAP_API_KEY: TEST_API_KEY,
  BOOTSTRAP_WORKSPACE: 'Test',
  ...NO_LIMITS,
  DELIVERY_RETRY_DELAYS_MS: '50,100,150',
  LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
});

/**
 * A whole service in this process: real HTTP on port 0, a real store in a temporary folder or a
 * fresh schema.
 */
export async function startTestService({
  env = {},
  clock,
  ...options
}: TestServiceOptions = {}): Promise<TestService> {
  const storage = await freshStorage();
  const settings = { ...testSettings(storage), ...env };
  const steady = clock && steadied(clock);
  const databaseNow = steady && databaseClock(steady);
  const moved = steady && new MovedClock(steady);
  const start = (extra: Record<string, string> = {}) =>
    startService(readConfig({ ...settings, ...extra }), {
      clock: steady && Object.assign(steady, { onMoved: moved?.onMoved }),
      databaseNow,
      passwordThread: CHEAP_PASSWORDS,
      ...options,
    });
  let service: Service = await start();
  const changeStored = async <T>(change: (store: ServiceStore) => Promise<T>): Promise<T> => {
    await service.stop();
    const store = await openStoreOf(storage.env);
    const result = await change(store);
    await store.close();
    service = await start();
    return result;
  };
  return {
    get url() {
      return service.url;
    },
    get setupUrl() {
      return service.setupUrl;
    },
    get api() {
      return apiClient(service.url, TEST_API_KEY);
    },
    apiKey: TEST_API_KEY,
    folder: storage.folder,
    stored: () => storage.stored(),
    async restart(extra) {
      await service.stop();
      service = await start(extra);
    },
    changeStored,
    async addWorkspace(name) {
      const key = await changeStored(async (store) => {
        const deps = { store, clock: systemClock };
        const workspace = await createWorkspace(deps, name);
        return (await createApiKey(deps, workspace, { name: 'test', createdBy: 'test' })).key;
      });
      return apiClient(service.url, key);
    },
    async stop() {
      moved?.close();
      await service.stop();
      await storage.remove();
    },
  };
}
