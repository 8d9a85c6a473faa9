// What work on deliveries costs beside a million stored ones: an event, a page of the log, and
// retention.
import { sweepAll } from '../../service/src/app/retention/housekeeping.ts';
import { startHelper, type RunningService } from './children.ts';
import { scaled, type Effort } from './comparison.ts';
import { call } from './customers.ts';
import { runEvents, startEvents, type EventSource } from './events.ts';
import type { FillQuestion } from './fillStore.ts';
import {
  openOnServer,
  startOnServer,
  type BenchServer,
  type StatementWork,
} from './postgresServer.ts';
import { startSink, type Sink, type Tls } from './sinkClient.ts';
import { median } from './statistics.ts';

export const SIZES = [1000, 1_000_000] as const;
export const EVENTS = 2000;
const PAGES = 20;
const PAGE = 50;
const RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;
/** Of the deliveries, the oldest go. */
export const SHARE_SWEPT = 0.1;
const TABLES = ['deliveries', 'events', 'jobs', 'conversations', 'messages'] as const;

export interface Grown {
  readonly deliveries: number;
  readonly fillSeconds: number;
  /** Of an event with its delivery, a value for each round. */
  readonly event: {
    readonly wallMicros: number[];
    readonly serviceMicros: number[];
    readonly serverMicros: number[];
    readonly pages: number[];
  };
  /** Milliseconds and pages looked at for 50 deliveries of the log. */
  readonly newest: Page;
  readonly oldest: Page;
  /** Of a document that retention removed. */
  readonly swept: { readonly documents: number; readonly micros: number; readonly pages: number };
  /** Seconds that a VACUUM of the tables takes afterwards. */
  readonly vacuumSeconds: number;
  readonly tables: readonly TableFigures[];
  /** Of an event, the dearest first; empty without pg_stat_statements. */
  readonly statements: readonly StatementCost[];
}

export interface Page {
  readonly ms: number;
  readonly pages: number;
}

export interface TableFigures {
  readonly name: (typeof TABLES)[number];
  readonly rows: number;
  /** Bytes for a row: in the table, out of line (TOAST), and in indexes. */
  readonly heap: number;
  readonly toast: number;
  readonly indexes: number;
  readonly updates: number;
  /** Of the updates, the share that touched no index (HOT). */
  readonly hot: number;
}

/** What statements of one kind cost for an event. */
export interface StatementCost {
  /** Such as `write conversations`. */
  readonly what: string;
  /** Time in which the statements were planned and ran. */
  readonly micros: number;
  readonly pages: number;
  readonly walBytes: number;
}

interface Side extends EventSource {
  readonly schema: string;
  readonly deliveries: number;
  readonly fillSeconds: number;
  readonly event: Grown['event'];
}

export async function measureGrowth(
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
    for (const side of sides) await run(server, sink, side, events);
  const grown: Grown[] = [];
  for (const side of sides) {
    const statements = await server.statements(() => runEvents(side, sink, events));
    grown.push(await finish(server, side, statementCosts(statements, events)));
  }
  await sink.helper.stop();
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
  return {
    ...source,
    schema,
    deliveries: documents / 2,
    fillSeconds: (performance.now() - startedAt) / 1000,
    event: { wallMicros: [], serviceMicros: [], serverMicros: [], pages: [] },
  };
}

async function run(server: BenchServer, sink: Sink, side: Side, count: number): Promise<void> {
  const { event } = side;
  const before = await server.work();
  const { wall, cpu } = await runEvents(side, sink, count);
  const after = await server.work();
  event.wallMicros.push(wall);
  event.serviceMicros.push(cpu);
  event.serverMicros.push(((after.cpuSeconds - before.cpuSeconds) / count) * 1e6);
  event.pages.push((after.buffers - before.buffers) / count);
}

async function finish(
  server: BenchServer,
  side: Side,
  statements: Grown['statements'],
): Promise<Grown> {
  const { schema, service, hook, deliveries, fillSeconds, event } = side;
  const newest = await pageOf(server, service, hook, '');
  // A cursor of the API is the last id of the page before.
  const oldestCursor = await cursorBefore(server, schema);
  const oldest = await pageOf(server, service, hook, `&cursor=${oldestCursor}`);
  const tables = await tablesOf(server, schema);
  await service.stop();
  const swept = await sweep(server, schema, Math.round(deliveries * SHARE_SWEPT));
  const startedAt = performance.now();
  for (const name of TABLES) await server.query(`VACUUM ${schema}.${name}`);
  const vacuumSeconds = (performance.now() - startedAt) / 1000;
  return {
    deliveries,
    fillSeconds,
    event,
    newest,
    oldest,
    swept,
    vacuumSeconds,
    tables,
    statements,
  };
}

/** The id of the delivery that has `PAGE` older ones. */
async function cursorBefore(server: BenchServer, schema: string): Promise<string> {
  const [row] = await server.query(
    `SELECT id FROM ${schema}.deliveries ORDER BY id OFFSET ${PAGE} LIMIT 1`,
  );
  return String(row!.id);
}

async function pageOf(
  server: BenchServer,
  service: RunningService,
  hook: string,
  query: string,
): Promise<Page> {
  const times: number[] = [];
  const pages: number[] = [];
  for (let i = 0; i < PAGES; i += 1) {
    const before = await server.work();
    const startedAt = performance.now();
    const { data } = await call<{ data: unknown[] }>(
      service,
      'GET',
      `/api/hooks/${hook}/deliveries?limit=${PAGE}${query}`,
    );
    times.push(performance.now() - startedAt);
    pages.push((await server.work()).buffers - before.buffers);
    if (data.length !== PAGE) throw new Error(`a page of the log has ${data.length} deliveries`);
  }
  return { ms: median(times), pages: median(pages) };
}

/** As if the oldest deliveries, and their events, had been kept for `RETENTION_DAYS`. */
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
    const [thereBefore, before] = [await count(), await server.work()];
    const startedAt = performance.now();
    await sweepAll(store, now, { days: RETENTION_DAYS, conversationDays: 0 });
    const ms = performance.now() - startedAt;
    const pages = (await server.work()).buffers - before.buffers;
    const documents = thereBefore - (await count());
    return { documents, micros: (ms / documents) * 1000, pages: pages / documents };
  } finally {
    await store.close();
  }
}

async function tablesOf(server: BenchServer, schema: string): Promise<readonly TableFigures[]> {
  const names = TABLES.map((name) => `'${name}'`).join(', ');
  const rows = await server.query(
    `SELECT c.relname AS name, n_live_tup AS rows, n_tup_upd AS updates, n_tup_hot_upd AS hot,
        pg_relation_size(relid) AS heap, pg_indexes_size(relid) AS indexes,
        coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS toast
      FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = relid
      WHERE schemaname = '${schema}' AND c.relname IN (${names}) ORDER BY c.relname`,
  );
  return rows.map((row) => {
    const count = Math.max(1, Number(row.rows));
    return {
      name: String(row.name) as TableFigures['name'],
      rows: Number(row.rows),
      heap: Number(row.heap) / count,
      toast: Number(row.toast) / count,
      indexes: Number(row.indexes) / count,
      updates: Number(row.updates),
      hot: Number(row.hot) / Math.max(1, Number(row.updates)),
    };
  });
}

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

/** What statements cost for each of `events`, by kind. */
function statementCosts(
  statements: readonly StatementWork[],
  events: number,
): readonly StatementCost[] {
  const kinds = Map.groupBy(statements, ({ query }) => kindOf(query.trim()));
  const each = (of: readonly StatementWork[], field: 'micros' | 'pages' | 'walBytes') =>
    of.reduce((sum, work) => sum + work[field], 0) / events;
  return Array.from(kinds, ([what, of]) => ({
    what,
    micros: each(of, 'micros'),
    pages: each(of, 'pages'),
    walBytes: each(of, 'walBytes'),
  })).sort((a, b) => b.micros - a.micros);
}
