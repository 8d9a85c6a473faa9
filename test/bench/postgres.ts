// `npm run bench -- --postgres`: the service on PostgreSQL, as one section of docs/benchmarks.md.
import type { Effort } from './comparison.ts';
import { measureClaims } from './postgresClaims.ts';
import { measureDeliveries } from './postgresDeliveries.ts';
import { measureGrowth } from './postgresGrowth.ts';
import { measureLatency } from './postgresLatency.ts';
import { measurePaths } from './postgresPaths.ts';
import type { BenchServer } from './postgresServer.ts';
import { measureWrites } from './postgresWrites.ts';
import type { PartResult } from './report.ts';
import type { Tls } from './sinkClient.ts';

type PostgresPart = (
  server: BenchServer,
  tls: Tls,
  effort: Effort,
  profiles?: string,
) => Promise<PartResult>;

/** In the order of the table. */
export const POSTGRES_PARTS: Readonly<Record<string, PostgresPart>> = {
  paths: measurePaths,
  deliveries: measureDeliveries,
  writes: measureWrites,
  claims: measureClaims,
  latency: measureLatency,
  growth: measureGrowth,
};
