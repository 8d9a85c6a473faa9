// Where the CPU time of a request or a delivery goes, by the purpose of the code, from the profiles of
// `npm run bench -- --profile`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The purpose of code, by its file: the first pattern that fits. */
const PURPOSES: readonly (readonly [purpose: string, files: RegExp])[] = [
  ['The profiler itself', /node:inspector|bench\/profiler/],
  ['Words for the search', /store\/lowdb\/wordIndex|conversations\/search|foldedText/],
  ['Journal: frames, writing, fdatasync', /store\/lowdb\/(journal|adapter)|platform\/files/],
  ['Counters of the Overview', /platform\/counting|conversations\/counted/],
  ['Store: transactions, indexes, changes', /service\/dist\/store\/|sorted-btree/],
  ['Jobs', /platform\/jobs/],
  ['Admission, rate limits and keys', /http\/server\/|platform\/limits|authentication|ipaddr/],
  ['Headers of every answer', /helmet/],
  ['Metrics and logs', /platform\/metrics|prom-client|pino/],
  ['Sending, with TLS and undici', /deliveries\/sending|platform\/outbound|undici/],
  ['Signatures', /signature/],
  ['Events and their subscriptions', /service\/dist\/(events|deliveries)\//],
  ['JSON and checks of the API', /platform\/http\/|node_modules\/zod/],
  ['Screens that are told', /app\/screens/],
  ['Rules of conversations and channels', /service\/dist\/(?!platform)/],
  ['Express', /node_modules\/(express|router|path-to-regexp|send|finalhandler)\//],
  ['Everything else of the service', /service\/|node_modules\//],
  [
    'Node: HTTP, TLS, streams, sockets',
    /node:(_http|net|_tls|internal\/(streams|stream_base|tls))/,
  ],
];
const NATIVE: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'Garbage collection'],
  ['(idle)', 'Idle'],
]);
const REST = 'Node: event loop and the rest';
const NOT_COUNTED = ['Idle', 'The profiler itself'];

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** In microseconds. */
  readonly timeDeltas: readonly number[];
}

/** `a reply.5000.4711-1.cpuprofile`: process 4711's first profile, of 5000 replies. */
const FILE = /^(.+)\.(\d+)\.[\d-]+\.cpuprofile$/;

/** The name of a profile's file. @param count how often `what` happened in it */
export const profileName = (what: string, count: number, id: string): string =>
  `${what}.${count}.${id}.cpuprofile`;

/**
 * @returns a table in Markdown: microseconds each, by purpose, the most expensive first; empty without
 * profiles
 */
export function profileTable(folder: string): string {
  const spent = new Map<string, Map<string, number>>();
  const counts = new Map<string, number>();
  for (const file of readdirSync(folder).sort()) {
    const [, what, count] = FILE.exec(file) ?? [];
    if (what === undefined) continue;
    counts.set(what, (counts.get(what) ?? 0) + Number(count));
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
    const sums = spent.get(what) ?? new Map<string, number>();
    addTimes(profile, sums);
    spent.set(what, sums);
  }
  const all = [...spent.keys()];
  if (all.length === 0) return '';
  const each = (what: string, purpose: string) =>
    (spent.get(what)!.get(purpose) ?? 0) / counts.get(what)!;
  const highest = (purpose: string) => Math.max(...all.map((what) => each(what, purpose)));
  const purposes = [...new Set([...spent.values()].flatMap((sums) => [...sums.keys()]))]
    .filter((purpose) => !NOT_COUNTED.includes(purpose))
    .sort((a, b) => highest(b) - highest(a));
  const row = (name: string, of: (what: string) => number) =>
    `| ${name} | ${all.map((what) => of(what).toFixed(0)).join(' | ')} |`;
  const total = (what: string) => purposes.reduce((sum, purpose) => sum + each(what, purpose), 0);
  return [
    `| CPU µs each, for | ${all.join(' | ')} |`,
    `|---|${all.map(() => '---:|').join('')}`,
    ...purposes.map((purpose) => row(purpose, (what) => each(what, purpose))),
    row('**In all**', total),
  ].join('\n');
}

/** Adds a profile's time to the sums by purpose. */
function addTimes({ nodes, samples, timeDeltas }: Profile, sums: Map<string, number>): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const known = new Map<number, string>();
  const purposeOf = (id: number): string => {
    const found = known.get(id) ?? purposeOfCode(byId.get(id)!) ?? ofCaller(parents.get(id));
    known.set(id, found);
    return found;
  };
  const ofCaller = (id: number | undefined): string => (id === undefined ? REST : purposeOf(id));
  for (const [at, id] of samples.entries()) {
    const purpose = purposeOf(id);
    sums.set(purpose, (sums.get(purpose) ?? 0) + timeDeltas[at]!);
  }
}

/** @returns undefined for code without a purpose of its own: it serves its caller's */
function purposeOfCode({ callFrame: { functionName, url } }: ProfileNode): string | undefined {
  return NATIVE.get(functionName) ?? PURPOSES.find(([, files]) => files.test(url))?.[0];
}
