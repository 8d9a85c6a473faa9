/**
 * `npm run bench`: what the service costs beside bare programs, with much stored, beside a bad
 * receiver, and beside what people would otherwise build. A whole run takes about half an hour and
 * writes docs/benchmarks.md.
 *
 * `-- deliveries` (or other names in PARTS) runs those parts and prints their table. Only whole runs
 * write the page, so that its rows are of one machine and one day. `--quick` tries everything with
 * little load and writes nothing. `--out <file>` writes the page there instead, also for parts and
 * for `--quick`.
 *
 * Three sections of the page have runs of their own, which leave the rest of the page as it is:
 * - `--profile` measures deliveries and messages under a CPU profiler, in about five minutes, and
 *   writes what the time is spent on. Together with `--postgres`, that table is only printed.
 * - `--postgres` measures the service on a PostgreSQL server of the bench's own, in about ten minutes.
 *   Its parts are those in POSTGRES_PARTS.
 * - `--n8n` measures a real n8n with our trigger, in about fifteen minutes.
 *
 * The service and what it is compared with take turns, so that whatever else the machine does slows
 * both; the ratios are of neighbouring runs. On a busy machine, trust the ratio of CPU time.
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeTestCa, writeTlsFiles } from '../helpers/tls.ts';
import { measureBullmq } from './bullmq.ts';
import { removeAtEnd } from './children.ts';
import type { Effort } from './comparison.ts';
import { measureDeliveries } from './deliveries.ts';
import { measureBurst, measureFairness } from './fairness.ts';
import { describeMachine } from './machine.ts';
import { measureMessages } from './messages.ts';
import { N8N_PARTS } from './n8n.ts';
import { POSTGRES_PARTS } from './postgres.ts';
import { startBenchServer } from './postgresServer.ts';
import { ensureRedis } from './redis.ts';
import { profileTable } from './profileTable.ts';
import {
  pageWith,
  reportPage,
  reportSection,
  reportTable,
  type PartResult,
  type Report,
  type SectionName,
} from './report.ts';
import { measureScreens } from './screens.ts';
import { measureSearch } from './search.ts';
import { measureSizes } from './sizes.ts';
import { measureSnapshots } from './snapshots.ts';
import type { Tls } from './sinkClient.ts';
import { measureTeam } from './team.ts';

const PAGE = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
const WHOLE: Effort = { rounds: 5, share: 1 };
const QUICK: Effort = { rounds: 2, share: 0.1 };
const FEW_ROUNDS: Effort = { rounds: 3, share: 1 };
const QUICK_FEW_ROUNDS: Effort = { rounds: 1, share: 0.1 };
const GIVE_UP_MS = 45 * 60_000;

type Part = (tls: Tls, effort: Effort, profiles?: string) => Promise<PartResult>;

/** In the order of the table. */
const PARTS: Readonly<Record<string, Part>> = {
  deliveries: measureDeliveries,
  messages: measureMessages,
  sizes: measureSizes,
  snapshots: (_, effort) => measureSnapshots(effort),
  fairness: measureFairness,
  burst: measureBurst,
  bullmq: measureBullmq,
  screens: measureScreens,
  search: (_, effort) => measureSearch(effort),
  team: measureTeam,
};

/** A part that fails says so in the table, and the others go on. */
async function runPart(name: string, run: () => Promise<PartResult>): Promise<PartResult> {
  const startedAt = performance.now();
  console.log(`${name} …`);
  try {
    return await run();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return {
      ratios: [],
      figures: [],
      settings: [],
      missing: [{ name, why: (error as Error).message.slice(0, 300) }],
    };
  } finally {
    console.log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  }
}

const NAMES_OF = {
  main: Object.keys(PARTS),
  profile: ['deliveries', 'messages'],
  postgres: Object.keys(POSTGRES_PARTS),
  n8n: Object.keys(N8N_PARTS),
};

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      postgres: { type: 'boolean', default: false },
      n8n: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const sections = ['n8n', 'postgres', 'profile'] as const;
  const section = sections.find((name) => values[name]) ?? ('main' as const);
  const parts = NAMES_OF[section];
  const unknown = positionals.filter((name) => !parts.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no part ${unknown.join(', ')}; the parts are ${parts.join(', ')}`);
  const isWhole = positionals.length === 0 && !values.quick;
  const isSlow = section === 'postgres' || section === 'n8n';
  const [whole, quick] = isSlow ? [FEW_ROUNDS, QUICK_FEW_ROUNDS] : [WHOLE, QUICK];
  return {
    names: positionals.length === 0 ? parts : positionals,
    effort: values.quick ? quick : whole,
    profile: values.profile,
    section,
    file: values.out ?? (isWhole ? PAGE : null),
  };
}

/** Measures these parts one after the other. */
async function measure(
  names: readonly string[],
  machine: readonly string[],
  part: (name: string) => Promise<PartResult>,
): Promise<Report> {
  const date = new Date();
  console.log(machine.join('\n'));
  const parts: PartResult[] = [];
  for (const name of names) parts.push(await runPart(name, () => part(name)));
  return { date, machine, parts };
}

type Measure = (names: readonly string[], ...settings: Parameters<Part>) => Promise<Report>;

const measureEmbedded: Measure = (names, ...settings) => {
  if (names.includes('bullmq')) ensureRedis(); // before describeMachine names its version
  return measure(names, describeMachine(), (name) => PARTS[name]!(...settings));
};

const MEASURE: Readonly<Record<SectionName | 'main', Measure>> = {
  main: measureEmbedded,
  profile: measureEmbedded,
  async postgres(names, ...settings) {
    const server = await startBenchServer();
    const machine = [
      ...describeMachine(),
      `PostgreSQL ${server.version} on the same machine, with its defaults: fsync and synchronous_commit on, 128 MB of shared buffers`,
    ];
    try {
      return await measure(names, machine, (name) => POSTGRES_PARTS[name]!(server, ...settings));
    } finally {
      await server.stop();
    }
  },
  n8n: (names, _, effort) => measure(names, describeMachine(), (name) => N8N_PARTS[name]!(effort)),
};

async function main(): Promise<void> {
  const { names, effort, profile, section, file } = readArguments();
  setTimeout(() => {
    console.error('The bench takes too long and gives up.');
    process.exit(1);
  }, GIVE_UP_MS).unref();
  const profiles = profile
    ? mkdtempSync(join(tmpdir(), 'conversation-service-profiles-'))
    : undefined;
  const testCa = await makeTestCa();
  const { folder, caFile } = await writeTlsFiles(testCa);
  removeAtEnd(folder);

  const report = await MEASURE[section](names, { ...testCa, caFile }, effort, profiles);
  console.log(`\n${reportTable(report.parts)}\n`);
  const profiled = profiles && profileTable(profiles);
  if (file !== null) {
    const page = existsSync(file) ? readFileSync(file, 'utf8') : null;
    const table = section === 'profile' ? profiled : undefined;
    const text = section === 'main' ? reportPage(report) : reportSection(section, report, table);
    writeFileSync(file, pageWith(page, { name: section, text }));
    console.log(`Written to ${file}`);
  }
  if (profiles !== undefined)
    console.log(
      `${profiled}\n\nCPU profiles of the measured runs, for Chrome's DevTools: ${profiles}`,
    );
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
process.exit();
