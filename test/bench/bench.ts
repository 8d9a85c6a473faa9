/**
 * `npm run bench`: what the service costs beside bare programs, with much stored, beside a bad receiver, and
 * beside what people would otherwise build. The whole run takes about twenty minutes and writes docs/benchmarks.md.
 *
 * `-- deliveries` (or any of the names in PARTS, several too) runs those parts and prints their table; the page is
 * written by whole runs only, so that its rows are of one machine and one day. `--quick` tries everything out
 * with little and writes nothing. `--out <file>` writes the page there instead, also for parts and for `--quick`.
 * `--profile` writes CPU profiles of the service in deliveries and messages.
 *
 * Ours and what it is compared with take turns, so that whatever else the machine does falls on both; the ratios
 * are of neighbouring runs. On a machine that is busy, the ratio of CPU time is the one to trust.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeTestCa, writeTlsFiles } from '../helpers/tls.ts';
import { measureBullmq } from './bullmq.ts';
import { removeAtEnd } from './children.ts';
import type { Effort } from './comparison.ts';
import { measureDeliveries } from './deliveries.ts';
import { describeMachine } from './machine.ts';
import { measureMessages } from './messages.ts';
import { burstPart, fairnessPart, screensPart, snapshotsPart } from './otherParts.ts';
import { ensureRedis } from './redis.ts';
import { reportPage, reportTable, type PartResult, type Report } from './report.ts';
import { measureSizes } from './sizes.ts';
import type { Tls } from './sinkClient.ts';

const PAGE = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
const WHOLE: Effort = { rounds: 5, share: 1 };
const QUICK: Effort = { rounds: 2, share: 0.1 };
const GIVE_UP_MS = 45 * 60_000;

/** In the order of the table. */
const PARTS: Readonly<Record<string, (tls: Tls, effort: Effort, profiles?: string) => Promise<PartResult>>> = {
  deliveries: measureDeliveries,
  messages: measureMessages,
  sizes: measureSizes,
  snapshots: (_, effort) => snapshotsPart(effort),
  fairness: (_, effort) => fairnessPart(effort),
  burst: (_, effort) => burstPart(effort),
  bullmq: measureBullmq,
  screens: screensPart,
};

/** A part that fails says so in the table, and the others go on. */
async function runPart(name: string, tls: Tls, effort: Effort, profiles?: string): Promise<PartResult> {
  const startedAt = performance.now();
  console.log(`${name} …`);
  try {
    return await PARTS[name]!(tls, effort, profiles);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
    return { ratios: [], figures: [], settings: [], missing: [{ name, why: (error as Error).message.slice(0, 300) }] };
  } finally {
    console.log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  }
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false }, profile: { type: 'boolean', default: false }, out: { type: 'string' } },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(', ')}; the parts are ${Object.keys(PARTS).join(', ')}`);
  const isWhole = positionals.length === 0 && !values.quick;
  return { names: positionals.length === 0 ? Object.keys(PARTS) : positionals, effort: values.quick ? QUICK : WHOLE, profile: values.profile, file: values.out ?? (isWhole ? PAGE : null) };
}

async function main(): Promise<void> {
  const { names, effort, profile, file } = readArguments();
  setTimeout(() => {
    console.error('The bench takes too long and is given up.');
    process.exit(1);
  }, GIVE_UP_MS).unref();
  const profiles = profile ? mkdtempSync(join(tmpdir(), 'conversation-service-profiles-')) : undefined;
  const testCa = await makeTestCa();
  const { folder, caFile } = await writeTlsFiles(testCa);
  removeAtEnd(folder);

  if (names.includes('bullmq')) ensureRedis(); // before its version is named
  const [date, machine] = [new Date(), describeMachine()];
  console.log(machine.join('\n'));
  const parts: PartResult[] = [];
  for (const name of names) parts.push(await runPart(name, { ...testCa, caFile }, effort, profiles));
  const report: Report = { date, machine, parts };
  console.log(`\n${reportTable(parts)}\n`);
  if (file !== null) {
    writeFileSync(file, reportPage(report));
    console.log(`Written to ${file}`);
  }
  if (profiles !== undefined) console.log(`CPU profiles of the measured runs, for Chrome's DevTools: ${profiles}`);
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
process.exit();
