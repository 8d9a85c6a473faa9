// A service that is asked from several sides at once: on PostgreSQL two services that share a
// schema, as two processes do; on the embedded store one, asked twice.
import { afterAll, beforeAll } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService, type Service, type StartOptions } from '../../../service/src/app/service.ts';
import { apiClient, type ApiClient } from '../../helpers/apiClient.ts';
import { TEST_API_KEY, testSettings } from '../../helpers/service.ts';
import { freshStorage, testDatabaseUrl, type Storage } from '../../helpers/storage.ts';

interface Sides {
  /** Each read gives the next service, so that successive requests go to different ones. */
  readonly url: string;
  /** A client of the next service, at each read. */
  readonly api: ApiClient;
  /** The set-up links that were printed, one for each service. */
  readonly setupUrls: readonly string[];
  /** On PostgreSQL, where everything is kept; null: the embedded store. */
  readonly schema: string | null;
}

/** In addition to what every test's service is started with. */
type SidesOptions = Pick<StartOptions, 'housekeepingEveryMs' | 'retention'> & {
  readonly ca?: () => string;
  readonly env?: () => Record<string, string>;
};

/** Started before the tests of a `describe` and stopped after them. */
export function sides({ ca, env, ...options }: SidesOptions = {}): Sides {
  const services: Service[] = [];
  let storage: Storage;
  let turn = 0;
  beforeAll(async () => {
    storage = await freshStorage();
    const config = readConfig({ ...testSettings(storage), ...env?.() });
    const start = () => startService(config, { ...options, ...(ca && { ca: ca() }) });
    // At once: of two that start on an empty store, one makes the workspace.
    services.push(
      ...(await Promise.all(testDatabaseUrl() === null ? [start()] : [start(), start()])),
    );
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await storage?.remove();
  });
  const next = () => services[turn++ % services.length]!.url;
  return {
    get url() {
      return next();
    },
    get api() {
      return apiClient(next(), TEST_API_KEY);
    },
    get schema() {
      return storage.env.DATABASE_SCHEMA ?? null;
    },
    get setupUrls() {
      return services.flatMap(({ setupUrl }) => setupUrl ?? []);
    },
  };
}

/** Does `what` so many times at once. */
export const atOnce = <T>(times: number, what: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, n) => what(n)));

/** The numbers from 0 to below `count`. */
export const upTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => n);

/**
 * So many tries of a race. A quarter of them on the embedded store, where transactions run one after
 * the other and a race has far fewer ways to end.
 */
export const rounds = (count: number): readonly number[] =>
  upTo(testDatabaseUrl() === null ? Math.ceil(count / 4) : count);
