// `npm run bench -- --postgres`: the service on PostgreSQL, as one section of docs/benchmarks.md.
import { CPU_EACH, scaled, type Effort, type Run } from './comparison.ts';
import { measureClaims, SIZES, type ClaimCosts, type Cost } from './postgresClaims.ts';
import {
  BUFFERS_EACH,
  CPU_OF,
  runDeliveries,
  STATEMENTS_EACH,
  SUBSCRIPTIONS,
  WORKERS,
  type ClusterRun,
} from './postgresDeliveries.ts';
import { MESSAGES_A_SECOND, runLatency } from './postgresLatency.ts';
import { AT_ONCE, measurePaths } from './postgresPaths.ts';
import {
  EVENTS,
  measureGrowth,
  SHARE_SWEPT,
  type Grown,
  type StatementCost,
  type TableFigures,
} from './postgresGrowth.ts';
import type { BenchServer } from './postgresServer.ts';
import { API_PROCESSES, runWrites, WRITE_CONNECTIONS } from './postgresWrites.ts';
import { round, spread, type Figure, type Goal, type PartResult, type Ratio } from './report.ts';
import type { Tls } from './sinkClient.ts';
import { median, quantile } from './statistics.ts';

/**
 * A claim may look at so many times the pages when a dead subscriber has a backlog: trees grow by a
 * level.
 */
const FLAT = { atMost: 1.5 };
/** Deliveries a second, to the embedded store. */
const ONE_WORKER = { atLeast: 0.8 };
/** By CPU time to one worker: a delivery may cost 1.2 times as much. */
const FOUR_WORKERS = { atLeast: 0.83 };
/** The dearest of an event. */
const STATEMENTS_SHOWN = 12;
/** What is stored may make work dearer by so much. */
const STEADY = { atMost: 1.2 };
/** How paths compare with the bare route, by how many requests are under way. */
const GOALS: Readonly<Record<number, Goal>> = { 32: { atLeast: 0.8 }, 128: { atLeast: 1.5 } };
const TO_BARE: Readonly<Record<string, typeof GOALS>> = {
  'Chat message': GOALS,
  'API reply': GOALS,
};
/** Slower than this is no notification, but a look at the next turn. */
const AT_ONCE_MS = 250;

export const POSTGRES_PARTS: Readonly<
  Record<
    string,
    (server: BenchServer, tls: Tls, effort: Effort, profiles?: string) => Promise<PartResult>
  >
> = {
  paths: pathsPart,
  deliveries: deliveriesPart,
  writes: writesPart,
  claims: claimsPart,
  latency: latencyPart,
  growth: growthPart,
};

const perSecond = (runs: readonly Run[]) => runs.map((run) => run.perSecond);
const detail = (runs: readonly Run[], name: string) => runs.map(({ details }) => details[name]!);
const dividedBy = (above: readonly number[], below: readonly number[]) =>
  above.map((value, i) => value / below[i]!);
const aSecond = (runs: readonly Run[]) => `${round(median(perSecond(runs)))} a second`;
const cpuEach = (runs: readonly Run[]) => `${round(median(detail(runs, CPU_EACH)))} µs each`;

/** Of neighbouring runs: what is done a second, and by CPU time. */
const beside = (
  name: string,
  ours: readonly Run[],
  other: string,
  theirs: readonly Run[],
  { aSecond: ofSpeed = null, byCpu = null }: { aSecond?: Goal | null; byCpu?: Goal | null } = {},
): Ratio[] => [
  {
    name: `${name} a second, to ${other}`,
    values: dividedBy(perSecond(ours), perSecond(theirs)),
    goal: ofSpeed,
    ours: aSecond(ours),
    beside: aSecond(theirs),
  },
  {
    name: `${name}, to ${other}, by CPU time`,
    values: dividedBy(detail(theirs, CPU_EACH), detail(ours, CPU_EACH)),
    goal: byCpu,
    isDetail: byCpu === null,
    ours: cpuEach(ours),
    beside: cpuEach(theirs),
  },
];

const figure = (name: string, ours: readonly number[]): Figure => ({
  name,
  ours: spread(ours),
  beside: '',
});
const many = (count: number, word: string) =>
  `${count} ${word}${count === 1 ? '' : word.endsWith('s') ? 'es' : 's'}`;

async function pathsPart(server: BenchServer, tls: Tls, effort: Effort): Promise<PartResult> {
  const { calls, paths, bare } = await measurePaths(server, tls, effort);
  const toBare = paths.filter(({ name, atOnce }) => name in TO_BARE && bare.has(atOnce));
  return {
    ratios: toBare.map(({ name, atOnce, perSecond }) => {
      const beside = bare.get(atOnce)!.perSecond;
      return {
        name: `${name}, ${atOnce} at once, to a bare Express route that writes two rows`,
        values: [perSecond / beside],
        goal: TO_BARE[name]![atOnce] ?? null,
        ours: `${round(perSecond)} a second`,
        beside: `${round(beside)} a second`,
      };
    }),
    figures: [...bare.values(), ...paths].map(({ name, atOnce, cost, perSecond, p50Ms }) => ({
      name: `${name}, ${atOnce} at once`,
      ours: `${round(cost.statements)} statements, ${round(cost.trips)} trips, ${round(cost.pages)} pages, ${round(cost.walBytes)} bytes of WAL, CPU ${round(cost.serverMicros)} µs of PostgreSQL and ${round(cost.ownMicros)} of the service`,
      beside: `${round(perSecond)} a second${Number.isNaN(p50Ms) ? '' : `, p50 ${round(p50Ms)} ms`}`,
    })),
    settings: [
      `Paths: ${calls} requests of each kind to as many conversations, ${AT_ONCE.join(', ')} at once, counted by a proxy in front of PostgreSQL, the service's own polling for changes included. The bare route writes two rows in one transaction through the same driver, on ten connections. A trip is a group of statements sent without waiting for an answer in between. The deliveries are those of the messages before, by one worker that finds them waiting.`,
    ],
  };
}

async function deliveriesPart(
  server: BenchServer,
  tls: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const { count, bodyBytes, bare, embedded, workers } = await runDeliveries(
    server,
    tls,
    effort,
    profiles,
  );
  const one = workers.get(1)!;
  const name = (n: number) => `Deliveries by ${many(n, 'worker')} on PostgreSQL`;
  const partsOf = (runs: readonly ClusterRun[]) =>
    runs
      .map(({ parts }) => parts.map((part) => `${Math.round(100 * part)} %`).join(', '))
      .join('; ');
  return {
    ratios: [
      ...WORKERS.flatMap((n) => [
        ...beside(name(n), workers.get(n)!, 'the embedded store', embedded, {
          aSecond: n === 1 ? ONE_WORKER : null,
        }),
        ...(n === 1
          ? beside(name(1), one, 'a bare undici loop', bare)
          : beside(name(n), workers.get(n)!, '1 worker', one, {
              byCpu: n === 4 ? FOUR_WORKERS : null,
            })),
      ]),
    ],
    figures: WORKERS.flatMap((n) => {
      const runs = workers.get(n)!;
      return [
        ...Object.values(CPU_OF).map((of) => figure(`${name(n)}: ${of}, each`, detail(runs, of))),
        figure(`${name(n)}: statements, each`, detail(runs, STATEMENTS_EACH)),
        figure(`${name(n)}: pages looked at, each`, detail(runs, BUFFERS_EACH)),
        ...(n === 1
          ? []
          : [
              {
                name: `${name(n)}: done by each worker, run by run`,
                ours: partsOf(runs),
                beside: '',
              },
            ]),
      ];
    }),
    settings: [
      `Deliveries: ${count} a run in ${effort.rounds} rounds, of ${SUBSCRIPTIONS} subscriptions, bodies of ${bodyBytes} bytes, counted at the receiver; the backlog is queued before, from a receiver that answered 400. ` +
        'One API process and the workers share one schema. CPU time on PostgreSQL is of all its processes, of all workers and of the API process (which follows what changes, for its live screens) together; with the embedded store it is of the one process.',
      `A subscription is served by one worker at a time, and the workers tell each other how many each has: ${SUBSCRIPTIONS} subscriptions can be shared out over four workers, a single one cannot be made faster by a second worker.`,
      'What two cores can show: receiver, workers, API process and PostgreSQL share them all, so that two or four workers cannot deliver more a second than one that keeps both cores busy already; ' +
        'a ratio to 1 worker near 1 says that a further worker costs nothing, no more. ' +
        'What would scale can be read from the CPU time instead: what a delivery takes of the workers is what further machines divide among them, what it takes of PostgreSQL stays where it is, and that bounds the sum: ' +
        'about one second of a core divided by PostgreSQL’s CPU time for a delivery, times the cores it has. That two machines reach the sum of both was not measured, for want of a second machine.',
    ],
  };
}

async function writesPart(
  server: BenchServer,
  { caFile }: Tls,
  effort: Effort,
  profiles?: string,
): Promise<PartResult> {
  const { calls, runs } = await runWrites(server, caFile, effort, profiles);
  return {
    ratios: runs.flatMap(({ name, bare, embedded, processes }) =>
      API_PROCESSES.flatMap((n) => {
        const ours = processes.get(n)!;
        const what = `${name}, ${many(n, 'process')} on PostgreSQL`;
        return [
          ...beside(what, ours, 'the embedded store', embedded),
          ...(n === 1
            ? beside(what, ours, 'bare Express', bare)
            : beside(what, ours, '1 process', processes.get(1)!)),
        ];
      }),
    ),
    figures: runs.flatMap(({ name, embedded, processes }) =>
      API_PROCESSES.flatMap((n) => {
        const ours = processes.get(n)!;
        const what = `${name}, ${many(n, 'process')} on PostgreSQL`;
        return [
          figure(`${what}: ${CPU_OF.api}, each`, detail(ours, CPU_OF.api)),
          figure(`${what}: ${CPU_OF.postgres}, each`, detail(ours, CPU_OF.postgres)),
          figure(`${what}: statements, each`, detail(ours, STATEMENTS_EACH)),
          ...['p50 ms', 'p99 ms'].map((time) => ({
            name: `${what}: ${time}, beside the embedded store`,
            ours: spread(detail(ours, time)),
            beside: spread(detail(embedded, time)),
          })),
        ];
      }),
    ),
    settings: [
      `API writes: ${calls} a run, ${effort.rounds} rounds after a warm-up, over ${WRITE_CONNECTIONS} connections in all to 16 conversations; no subscriptions. Every message is durable when it is answered. With two processes each is called by a loop of its own, on the same two cores.`,
    ],
  };
}

const BACKLOG = { waiting: 'waiting retries', due: 'due retries' } as const;

async function claimsPart(server: BenchServer, _: Tls, effort: Effort): Promise<PartResult> {
  const measured = await measureClaims(server, effort);
  const cost = ({ ms, buffers }: Cost) => `${round(buffers)} pages, ${round(ms)} ms`;
  const nameOf = ({ size, backlog, analyzed }: ClaimCosts) =>
    `beside ${size.toLocaleString('en-US')} ${BACKLOG[backlog]} of a dead subscriber${analyzed ? ', after ANALYZE' : ''}`;
  const pairs = measured
    .filter(({ size }) => size > 0)
    .map((loaded) => ({
      loaded,
      empty: measured.find(
        ({ size, backlog, analyzed }) =>
          size === 0 && backlog === loaded.backlog && analyzed === loaded.analyzed,
      )!,
    }));
  const ratio = (
    what: string,
    { loaded, empty }: (typeof pairs)[number],
    of: (costs: ClaimCosts) => Cost,
  ): Ratio => ({
    name: `Pages looked at to ${what} ${nameOf(loaded)}, to none`,
    values: [of(loaded).buffers / of(empty).buffers],
    // Beside due ones each claim takes one more job: the dead subscriber's.
    goal: loaded.backlog === 'waiting' ? FLAT : null,
    ours: cost(of(loaded)),
    beside: cost(of(empty)),
  });
  return {
    ratios: pairs.map((pair) => ratio('claim a job', pair, ({ claim }) => claim)),
    figures: pairs
      .filter(({ loaded }) => loaded.analyzed)
      .flatMap(({ loaded, empty }) => [
        {
          name: `To end what was claimed ${nameOf(loaded)}, beside none`,
          ours: cost(loaded.end),
          beside: cost(empty.end),
        },
        {
          name: `To ask how long until something is due ${nameOf(loaded)}, beside none`,
          ours: cost(loaded.msUntilDue),
          beside: cost(empty.msUntilDue),
        },
        {
          name: `To count everything for /metrics, which is kept for a while when it took long, ${nameOf(loaded)}, beside none`,
          ours: cost(loaded.stats),
          beside: cost(empty.stats),
        },
      ]),
    settings: [
      `Claims: the store's own claim of another subscription's due job, in one process, beside ${SIZES.map((size) => size.toLocaleString('en-US')).join(', ')} retries of a dead subscriber that wait (for 15 to 75 minutes) or are all due (its receiver was switched off while events came in; one of its jobs is then claimed with each). ` +
        'Pages of 8 KiB that PostgreSQL looked at, medians; once with what the server knew of the empty table and plans made then, autovacuum off, once after ANALYZE.',
    ],
  };
}

async function latencyPart(server: BenchServer, tls: Tls, effort: Effort): Promise<PartResult> {
  const { embedded, postgres } = await runLatency(server, tls, effort);
  const at = (runs: readonly (readonly number[])[], p: number) =>
    runs.map((times) => quantile(times, p));
  const text = (times: readonly number[]) => `${round(median(times))} ms`;
  const [ours, theirs] = [at(postgres, 0.5), at(embedded, 0.5)];
  return {
    ratios: [
      {
        name: `Message to its event at the receiver, median, to ${AT_ONCE_MS} ms`,
        values: ours.map((ms) => ms / AT_ONCE_MS),
        goal: { atMost: 1 },
        ours: text(ours),
        beside: text(theirs),
      },
      {
        name: 'Message to its event at the receiver, median, to the embedded store',
        values: dividedBy(ours, theirs),
        goal: null,
        ours: text(ours),
        beside: text(theirs),
      },
    ],
    figures: [
      {
        name: 'Message to its event at the receiver, p99, ms, beside the embedded store',
        ours: spread(at(postgres, 0.99)),
        beside: spread(at(embedded, 0.99)),
      },
    ],
    settings: [
      `Latency: ${MESSAGES_A_SECOND} messages a second to each side in turn, ${effort.rounds} rounds; one API process takes them, one worker delivers. Work is told of by NOTIFY: a worker that had to look for it would take up to two seconds.`,
    ],
  };
}

async function growthPart(server: BenchServer, tls: Tls, effort: Effort): Promise<PartResult> {
  const [few, many] = (await measureGrowth(server, tls, effort)) as [Grown, Grown];
  const beside = ({ deliveries }: Grown) =>
    `beside ${deliveries.toLocaleString('en-US')} deliveries`;
  const both = `${beside(many)}, to ${few.deliveries.toLocaleString('en-US')}`;
  const ofEvent = (what: string, of: (event: Grown['event']) => readonly number[]): Ratio => ({
    name: `${what} of an event ${both}`,
    values: dividedBy(of(many.event), of(few.event)),
    goal: STEADY,
    ours: `${round(median(of(many.event)))} µs`,
    beside: `${round(median(of(few.event)))} µs`,
  });
  const pages = (what: string, of: (grown: Grown) => { pages: number; text: string }): Ratio => ({
    name: `Pages looked at for ${what} ${both}`,
    values: [of(many).pages / of(few).pages],
    goal: FLAT,
    ours: of(many).text,
    beside: of(few).text,
  });
  const pageOf = ({ pages, ms }: Grown['newest']) => ({
    pages,
    text: `${round(pages)} pages, ${round(ms)} ms`,
  });
  const sweptOf = ({ swept: { pages, micros } }: Grown) => ({
    pages,
    text: `${round(pages)} pages, ${round(micros)} µs`,
  });
  const cpu = ({ serviceMicros, serverMicros }: Grown['event']) =>
    serviceMicros.map((micros, i) => micros + serverMicros[i]!);
  return {
    ratios: [
      ofEvent('Wall time', ({ wallMicros }) => wallMicros),
      ofEvent('CPU time', cpu),
      pages('the newest 50 of the log', ({ newest }) => pageOf(newest)),
      pages('the oldest 50 of the log', ({ oldest }) => pageOf(oldest)),
      pages('a document that retention removes', sweptOf),
    ],
    figures: [
      ...[few, many].flatMap((grown) => [
        figure(`CPU µs of PostgreSQL for an event ${beside(grown)}`, grown.event.serverMicros),
        figure(`Pages looked at for an event ${beside(grown)}`, grown.event.pages),
        figure(`Filling, seconds, ${beside(grown)}`, [grown.fillSeconds]),
        figure(`Documents that retention removed ${beside(grown)}`, [grown.swept.documents]),
        figure(`Seconds for a VACUUM after it ${beside(grown)}`, [grown.vacuumSeconds]),
        ...grown.tables.map((table) => tableFigure(table, beside(grown))),
      ]),
      ...many.statements
        .slice(0, STATEMENTS_SHOWN)
        .map((statement) => statementFigure(statement, beside(many))),
    ],
    settings: [
      `Growth: an event is a customer's message over the API with its one signed delivery, received and recorded, by one process; ${scaled(EVENTS, effort)} a run, ${effort.rounds} rounds in turn. The deliveries and their events are stored through the store itself, all of one subscription. ` +
        `Retention removes the oldest ${SHARE_SWEPT * 100} % of both as the service does, without anything beside it. Bytes are for a row: in the table, out of line (TOAST) and in its indexes. An update is HOT when no index had to be written for it. What PostgreSQL takes for an event is the time of its statements by pg_stat_statements, planning included, without what receiving and answering them costs.`,
    ],
  };
}

const statementFigure = (
  { what, micros, pages, walBytes }: StatementCost,
  beside: string,
): Figure => ({
  name: `PostgreSQL for an event ${beside}: ${what}`,
  ours: `${round(micros)} µs, ${round(pages)} pages, ${round(walBytes)} bytes of WAL`,
  beside: '',
});

const tableFigure = (
  { name, rows, heap, toast, indexes, updates, hot }: TableFigures,
  beside: string,
): Figure => ({
  name: `Table ${name} ${beside}`,
  ours: `${rows.toLocaleString('en-US')} rows, ${round(heap)} + ${round(toast)} + ${round(indexes)} bytes`,
  beside: `${updates.toLocaleString('en-US')} updates, ${round(hot * 100)} % of them HOT`,
});
