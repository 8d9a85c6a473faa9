// Writes what the bench measured as a page: the ratios with their goals first, then, folded, every
// figure and how it was measured.
import { median } from './statistics.ts';

/** How a ratio should turn out. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number };

/** One thing measured against another. */
export interface Ratio {
  readonly name: string;
  /** One for each pair of neighbouring runs; their median counts. */
  readonly values: readonly number[];
  /** Null: for information only. */
  readonly goal: Goal | null;
  /** Left out of the page's first table. */
  readonly isDetail?: boolean;
  /** The figures that the ratio comes from: ours, and what it is compared with. */
  readonly ours: string;
  readonly beside: string;
}

export interface Figure {
  readonly name: string;
  readonly ours: string;
  /** What ours is compared with; empty when there is nothing. */
  readonly beside: string;
}

/** The results of one part of the bench. */
export interface PartResult {
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
  /** Sentences on how it was measured. */
  readonly settings: readonly string[];
  /** Names of what could not be measured, with the reason. */
  readonly missing?: readonly { readonly name: string; readonly why: string }[];
}

export interface Report {
  readonly date: Date;
  /** Lines on the machine and the versions. */
  readonly machine: readonly string[];
  readonly parts: readonly PartResult[];
}

/** Two decimals below 100, whole numbers from there. */
export const round = (value: number): string => {
  if (!Number.isFinite(value)) return 'unknown';
  if (Math.abs(value) >= 999.5) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
};

/** Median, lowest and highest: `0.71 (0.69 to 0.74)`; a single value stands alone. */
export const spread = (values: readonly number[]): string =>
  values.length === 1
    ? round(values[0]!)
    : `${round(median(values))} (${round(Math.min(...values))} to ${round(Math.max(...values))})`;

/** `1 process`, `2 processes`. */
export const counted = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : word.endsWith('s') ? 'es' : 's'}`;

export const figure = (name: string, values: readonly number[]): Figure => ({
  name,
  ours: spread(values),
  beside: '',
});

export const isReached = (values: readonly number[], goal: Goal): boolean =>
  'atLeast' in goal ? median(values) >= goal.atLeast : median(values) <= goal.atMost;

const goalText = (goal: Goal) =>
  'atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`;

const HEADINGS = ['What', 'Ratio', 'Goal', 'Result', 'Ours', 'Beside it'] as const;

/** Everything that was measured, its columns aligned. */
export function reportTable(parts: readonly PartResult[]): string {
  const rows = rowsOf(parts).map((cells) => cells.map(escaped));
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((cells) => cells[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    row(cells.map((cell, column) => cell.padEnd(widths[column]!)));
  return [line(HEADINGS), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join(
    '\n',
  );
}

/** The ratios with their goals, and what could not be measured. */
function headlineTable(parts: readonly PartResult[]): string {
  const headlines = parts.map(({ ratios, missing }) => ({
    ratios: ratios.filter(({ isDetail }) => isDetail !== true),
    figures: [],
    settings: [],
    ...(missing === undefined ? {} : { missing }),
  }));
  const headings = HEADINGS.slice(0, 4);
  return [
    row(headings),
    row(headings.map(() => '---')),
    ...rowsOf(headlines).map((cells) => row(cells.slice(0, 4).map(escaped))),
  ].join('\n');
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

const rowsOf = (parts: readonly PartResult[]): string[][] => [
  ...parts.flatMap(({ ratios }) => ratios.map(ratioCells)),
  ...parts.flatMap(({ missing = [] }) =>
    missing.map(({ name, why }) => [name, '', '', '**not measured**', why, '']),
  ),
  ...parts.flatMap(({ figures }) =>
    figures.map(({ name, ours, beside }) => [name, '', '', '', ours, beside]),
  ),
];

/** A row would end where its text holds a bar or a line break. */
const escaped = (cell: string) => cell.replaceAll('|', String.raw`\|`).replaceAll(/\s*\n\s*/g, ' ');

const ratioCells = ({ name, values, goal, ours, beside }: Ratio): string[] => [
  name,
  spread(values),
  goal === null ? '' : goalText(goal),
  goal === null ? '' : isReached(values, goal) ? 'reached' : '**missed**',
  ours,
  beside,
];

/** What follows the page's first part, in this order. Each is written by its own run. */
const SECTIONS = {
  profile: {
    title: 'Where the time goes',
    about:
      'CPU profiles of the service while it was measured on the embedded store, by the purpose of the code.',
  },
  postgres: {
    title: 'On PostgreSQL',
    about:
      'Several processes of the service share one PostgreSQL server. CPU time is that of all of them and of the server together.',
  },
  n8n: {
    title: 'With n8n',
    about:
      'A real n8n runs workflows more slowly than the service delivers events. These are the executions that its settings allow.',
  },
} as const;
export type SectionName = keyof typeof SECTIONS;

const headingOf = (name: SectionName) => `\n## ${SECTIONS[name].title}\n`;

/**
 * The page with one of its parts replaced; the others stay as they are.
 * @param page the current one; null: there is none yet
 */
export function pageWith(
  page: string | null,
  written: { readonly name: 'main' | SectionName; readonly text: string },
): string {
  const [main = '', ...sections] = (page ?? '# Benchmarks\n').split(/(?=\n## )/);
  const textOf = (name: SectionName) =>
    sections.find((text) => text.startsWith(headingOf(name))) ?? '';
  return [
    written.name === 'main' ? written.text : main,
    ...(Object.keys(SECTIONS) as SectionName[]).map((name) =>
      written.name === name ? written.text : textOf(name),
    ),
  ].join('');
}

/**
 * A section of the page.
 * @param report.machine names also what the service ran on
 * @param table takes the place of the report's own tables
 */
export const reportSection = (
  name: SectionName,
  report: Report,
  table?: string,
): string => `${headingOf(name)}
${SECTIONS[name].about}

${table === undefined ? tables(report.parts) : `${table}\n`}
${howMeasured(report, `npm run bench -- --${name}`)}`;

/** The first part of the page, as docs/benchmarks.md holds it. */
export const reportPage = (report: Report): string => `# Benchmarks

How the service compares with bare programs that do the same work without its guarantees (an undici loop that signs and
posts, an Express server that answers), with itself when much is stored or a receiver is bad, and with BullMQ on Redis.

A ratio is the median of neighbouring runs, with the lowest and highest in brackets; what is compared takes turns within
one run. Above 1 is better for what is counted per second and for “by CPU time”, which divides theirs by ours; in every
other comparison of times, below 1 is better. A ratio says more about the program than a figure, which depends on the
machine too.

${tables(report.parts)}
${howMeasured(report, 'npm run bench')}`;

const tables = (parts: readonly PartResult[]): string => `${headlineTable(parts)}

<details>
<summary>Every figure</summary>

CPU time is user and system time of the program measured. It is what to look at when the machine did other things at the
same time, or when the sender, the receiver and the program share its cores, as they do here.

${reportTable(parts)}

</details>
`;

/** @param command what writes this part of the page */
const howMeasured = ({ date, machine, parts }: Report, command: string): string => `<details>
<summary>How it was measured</summary>

Written by \`${command}\` on ${date.toISOString().slice(0, 10)}. Do not edit it: run the command again.

${bullets(machine)}

${bullets(parts.flatMap(({ settings }) => settings))}

</details>
`;

const bullets = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n');
