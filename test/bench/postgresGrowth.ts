// What work on deliveries costs beside a million stored ones: an event, a page of the log, and
// retention.
import { sweepAll } from '../../service/src/app/retention/housekeeping.ts';
import { startHelper, type RunningService } from './children.ts';
import { CPU_EACH, detail, dividedBy, scaled, type Effort } from './comparison.ts';
import { call } from './customers.ts';
import { runEvents, startEvents, type EventSource } from './events.ts';
import type { FillQuestion } from './fillStore.ts';
import { FLAT } from './postgresClaims.ts';
import {
  openOnServer,
  startOnServer,
  withCosts,
  type BenchServer,
  type CostlyRun,
  type StatementWork,
} from './postgresServer.ts';
import { figure, round, type Figure, type PartResult, type Ratio } from './report.ts';
import { startSink, type Sink, type Tls } from './sinkClient.ts';
import { median } from './statistics.ts';

const SIZES = [1000, 1_000_000];
const EVENTS = 2000;
const WALL_EACH = 'wall µs each';
const LOG_READS = 20;
/** Deliveries of one page of the log. */
const LOG_PAGE = 50;
const RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;
/** The part of the deliveries, the oldest ones, that retention removes. */
const SHARE_SWEPT = 0.1;
const TABLES = ['deliveries', 'events', 'jobs', 'conversations', 'messages'];

/** How many times as much an event may cost beside many deliveries as beside few. */
const STEADY = { atMost: 1.2 };
/** So many kinds of an event's statements are shown, the most expensive ones. */
const STATEMENTS_SHOWN = 12;

/** A service beside stored deliveries. */
interface Side extends EventSource {
  readonly schema: string;
  readonly deliveries: number;
  /** Such as `beside 1,000 deliveries`. */
  readonly beside: string;
  readonly fillSeconds: number;
  /** Runs of events, one for each round. */
  readonly runs: CostlyRun[];
}

interface PageCost {
  /** Pages of 8 KiB that PostgreSQL looked at. */
  readonly pages: number;
  /** With the time that it took. */
  readonly text: string;
}

interface Grown extends Side {
  /** A page of the log, from its newest and from its oldest deliveries. */
  readonly newest: PageCost;
  readonly oldest: PageCost;
  /** A document that retention removed. */
  readonly swept: PageCost & { readonly documents: number };
  /** Seconds that a VACUUM of the tables takes afterwards. */
  readonly vacuumSeconds: number;
  readonly tables: readonly Figure[];
  readonly statements: readonly Figure[];
}

export async function measureGrowth(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
): Promise<PartResult> {
  const [few, many] = (await measureSides(server, tls, effort)) as [Grown, Grown];
  const both = `${many.beside}, to ${few.deliveries.toLocaleString('en-US')}`;
  const ofEvent = (what: string, name: string): Ratio => {
    const [ours, theirs] = [detail(many.runs, name), detail(few.runs, name)];
    return {
      name: `${what} of an event ${both}`,
      values: dividedBy(ours, theirs),
      goal: STEADY,
      ours: `${round(median(ours))} µs`,
      beside: `${round(median(theirs))} µs`,
    };
  };
  const pagesFor = (what: string, of: 'newest' | 'oldest' | 'swept'): Ratio => ({
    name: `Pages looked at for ${what} ${both}`,
    values: [many[of].pages / few[of].pages],
    goal: FLAT,
    ours: many[of].text,
    beside: few[of].text,
  });
  const cost = (runs: readonly CostlyRun[], name: string) => runs.map(({ costs }) => costs[name]!);
  return {
    ratios: [
      ofEvent('Wall time', WALL_EACH),
      ofEvent('CPU time', CPU_EACH),
      pagesFor(`the newest ${LOG_PAGE} of the log`, 'newest'),
      pagesFor(`the oldest ${LOG_PAGE} of the log`, 'oldest'),
      pagesFor('a document that retention removes', 'swept'),
    ],
    figures: [
      ...[few, many].flatMap(({ beside, runs, fillSeconds, swept, vacuumSeconds, tables }) => [
        figure(`CPU µs of PostgreSQL for an event ${beside}`, cost(runs, 'CPU µs of PostgreSQL')),
        figure(`Pages looked at for an event ${beside}`, cost(runs, 'pages looked at')),
        figure(`Filling, seconds, ${beside}`, [fillSeconds]),
        figure(`Documents that retention removed ${beside}`, [swept.documents]),
        figure(`Seconds for a VACUUM after it ${beside}`, [vacuumSeconds]),
        ...tables,
      ]),
      ...many.statements,
    ],
    settings: [
      `Growth: an event is a customer's message over the API with its one signed delivery, received and recorded, by one process; ${scaled(EVENTS, effort)} a run, ${effort.rounds} rounds in turn. The deliveries and their events are stored through the store itself, all of one subscription. ` +
        `Retention removes the oldest ${SHARE_SWEPT * 100} % of both as the service does, without anything beside it. Bytes are for a row: in the table, out of line (TOAST) and in its indexes. An update is HOT when no index had to be written for it. What PostgreSQL takes for an event is the time of its statements by pg_stat_statements, planning included, without what receiving and answering them costs.`,
    ],
  };
}

async function measureSides(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
): Promise<readonly Grown[]> {
  const sink = await startSink(tls);
  const sides: Side[] = [];
  for (const size of SIZES)
    sides.push(await startSide(server, tls, sink, size === SIZES[0] ? size : scaled(size, effort)));
  await server.query('VACUUM ANALYZE'); // as after an hour of rest
  const events = scaled(EVENTS, effort);
  for (const side of sides) await runEvents(side, sink, events / 2);
  for (let round = 0; round < effort.rounds; round += 1)
    for (const side of sides) side.runs.push(await run(server, sink, side, events));
  const grown: Grown[] = [];
  for (const side of sides) {
    const statements = await server.statements(() => runEvents(side, sink, events));
    grown.push(await finish(server, side, statementFigures(statements, events, side.beside)));
  }
  await sink.stop();
  return grown;
}

async function startSide(
  server: BenchServer,
  { caFile }: Tls,
  sink: Sink,
  wanted: number,
): Promise<Side> {
  const schema = `growth_${wanted}`;
  const service = await startOnServer(server, schema, 'all', caFile);
  const source = await startEvents(service, sink, wanted);
  console.log(`  filling ${schema}`);
  const filler = startHelper('fillStore.ts');
  const startedAt = performance.now();
  const { url } = server;
  const documents = await filler.ask<number>({
    server: { url },
    schema,
    documents: 2 * wanted,
    subscriptionId: source.hook,
  } satisfies FillQuestion);
  await filler.stop();
  const deliveries = documents / 2;
  return {
    ...source,
    schema,
    deliveries,
    beside: `beside ${deliveries.toLocaleString('en-US')} deliveries`,
    fillSeconds: (performance.now() - startedAt) / 1000,
    runs: [],
  };
}

const run = (server: BenchServer, sink: Sink, side: Side, count: number) =>
  withCosts(server, { 'the service': [side.service] }, count, async () => {
    const { wall } = await runEvents(side, sink, count);
    return { perSecond: 1e6 / wall, details: { [WALL_EACH]: wall } };
  });

async function finish(
  server: BenchServer,
  side: Side,
  statements: readonly Figure[],
): Promise<Grown> {
  const { schema, service, hook, deliveries, beside } = side;
  const newest = await costOfLogPage(server, service, hook, '');
  // A cursor of the API is the last id of the page before.
  const oldestCursor = await cursorBefore(server, schema);
  const oldest = await costOfLogPage(server, service, hook, `&cursor=${oldestCursor}`);
  const tables = await tableFigures(server, schema, beside);
  await service.stop();
  const swept = await sweep(server, schema, Math.round(deliveries * SHARE_SWEPT));
  const startedAt = performance.now();
  for (const name of TABLES) await server.query(`VACUUM ${schema}.${name}`);
  const vacuumSeconds = (performance.now() - startedAt) / 1000;
  return { ...side, newest, oldest, swept, vacuumSeconds, tables, statements };
}

/** The id of the delivery that has `LOG_PAGE` older ones. */
async function cursorBefore(server: BenchServer, schema: string): Promise<string> {
  const [row] = await server.query(
    `SELECT id FROM ${schema}.deliveries ORDER BY id OFFSET ${LOG_PAGE} LIMIT 1`,
  );
  return String(row!.id);
}

async function costOfLogPage(
  server: BenchServer,
  service: RunningService,
  hook: string,
  query: string,
): Promise<PageCost> {
  const times: number[] = [];
  const pages: number[] = [];
  for (let i = 0; i < LOG_READS; i += 1) {
    const before = await server.work();
    const startedAt = performance.now();
    const { data } = await call<{ data: unknown[] }>(
      service,
      'GET',
      `/api/hooks/${hook}/deliveries?limit=${LOG_PAGE}${query}`,
    );
    times.push(performance.now() - startedAt);
    pages.push((await server.work()).pages - before.pages);
    if (data.length !== LOG_PAGE)
      throw new Error(`a page of the log has ${data.length} deliveries`);
  }
  const text = `${round(median(pages))} pages, ${round(median(times))} ms`;
  return { pages: median(pages), text };
}

/** Runs retention at the time at which the oldest deliveries, and their events, are old enough. */
async function sweep(server: BenchServer, schema: string, deliveries: number) {
  const [youngest] = await server.query(
    `SELECT document->>'createdAt' AS at FROM ${schema}.deliveries ORDER BY id OFFSET ${deliveries} LIMIT 1`,
  );
  const now = new Date(Date.parse(String(youngest!.at)) + RETENTION_DAYS * DAY_MS);
  const count = async () => {
    const [row] = await server.query(
      `SELECT (SELECT count(*) FROM ${schema}.deliveries) + (SELECT count(*) FROM ${schema}.events) AS n`,
    );
    return Number(row!.n);
  };
  const store = await openOnServer(server, schema);
  try {
    const [countBefore, before] = [await count(), await server.work()];
    const startedAt = performance.now();
    await sweepAll(store, now, { days: RETENTION_DAYS, conversationDays: 0 });
    const ms = performance.now() - startedAt;
    const pagesInAll = (await server.work()).pages - before.pages;
    const documents = countBefore - (await count());
    const pages = pagesInAll / documents;
    return {
      documents,
      pages,
      text: `${round(pages)} pages, ${round((ms / documents) * 1000)} µs`,
    };
  } finally {
    await store.close();
  }
}

async function tableFigures(
  server: BenchServer,
  schema: string,
  beside: string,
): Promise<readonly Figure[]> {
  const names = TABLES.map((name) => `'${name}'`).join(', ');
  const tables = await server.query(
    `SELECT c.relname AS name, n_live_tup AS rows, n_tup_upd AS updates, n_tup_hot_upd AS hot,
        pg_relation_size(relid) AS heap, pg_indexes_size(relid) AS indexes,
        coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS toast
      FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = relid
      WHERE schemaname = '${schema}' AND c.relname IN (${names}) ORDER BY c.relname`,
  );
  return tables.map((table) => {
    const [rows, updates] = [Number(table.rows), Number(table.updates)];
    const bytes = ['heap', 'toast', 'indexes'].map((part) =>
      round(Number(table[part]) / Math.max(1, rows)),
    );
    const hot = (100 * Number(table.hot)) / Math.max(1, updates);
    return {
      name: `Table ${String(table.name)} ${beside}`,
      ours: `${rows.toLocaleString('en-US')} rows, ${bytes.join(' + ')} bytes`,
      beside: `${updates.toLocaleString('en-US')} updates, ${round(hot)} % of them HOT`,
    };
  });
}

/** Kinds of statements, by their text: the first pattern that fits. */
const KINDS: readonly (readonly [RegExp, (table: string) => string])[] = [
  [/claimed_elsewhere/, () => 'claim jobs'],
  [/change_life/, () => 'tell screens what changed'],
  [/^INSERT INTO "\w+"\."?(\w+)/, (table) => `write ${table}`],
  [/^DELETE FROM "\w+"\."?(\w+)/, (table) => `remove ${table}`],
  [/FROM "\w+"\."?(\w+)"? WHERE id.*FOR UPDATE/s, (table) => `lock ${table}`],
  [/FROM "\w+"\."?(\w+)/, (table) => `read ${table}`],
];

function kindOf(query: string): string {
  for (const [pattern, name] of KINDS) {
    const found = pattern.exec(query);
    if (found) return name(found[1] ?? '');
  }
  return 'begin, commit and the rest';
}

/** What statements cost for each of `events`, by kind, the most expensive first. */
function statementFigures(
  statements: readonly StatementWork[],
  events: number,
  beside: string,
): readonly Figure[] {
  const kinds = Map.groupBy(statements, ({ query }) => kindOf(query.trim()));
  const each = (of: readonly StatementWork[], field: 'micros' | 'pages' | 'walBytes') =>
    of.reduce((sum, work) => sum + work[field], 0) / events;
  return [...kinds]
    .sort(([, a], [, b]) => each(b, 'micros') - each(a, 'micros'))
    .slice(0, STATEMENTS_SHOWN)
    .map(([what, of]) => ({
      name: `PostgreSQL for an event ${beside}: ${what}`,
      ours: `${round(each(of, 'micros'))} µs, ${round(each(of, 'pages'))} pages, ${round(each(of, 'walBytes'))} bytes of WAL`,
      beside: '',
    }));
}
