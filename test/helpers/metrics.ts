import type { BoundName } from '../../service/src/platform/limits/bounds.ts';

export interface Metrics {
  readonly text: string;
  /** One line's value; undefined when there is no such line. @param labels all of them */
  value(name: string, labels?: Record<string, string>): number | undefined;
  /** Every value of a metric. */
  values(name: string): readonly number[];
  /** Names of all metrics, as their TYPE lines say. */
  readonly names: readonly string[];
}

const LINE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (-?[\d.e+-]+|NaN|\+Inf)$/i;

/** Reads Prometheus' text format, line by line. @throws Error for a line that is not in this format */
export function parseMetrics(text: string): Metrics {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const series = lines.map((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`This is not a line of metrics: ${line}`);
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, label, given]) => [label!, given!] as const,
    );
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
  const isSame = (a: Record<string, string>, b: Record<string, string>) =>
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([name, value]) => b[name] === value);
  return {
    text,
    value: (name, labels = {}) =>
      series.find((each) => each.name === name && isSame(each.labels, labels))?.value,
    values: (name) => series.filter((each) => each.name === name).map(({ value }) => value),
    names: [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!),
  };
}

export async function readMetrics(
  url: string,
  headers: Record<string, string> = {},
): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`, { headers });
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  return parseMetrics(await response.text());
}

/** How often a bound was reached. */
export const boundReached = async (url: string, bound: BoundName): Promise<number> =>
  (await readMetrics(url)).value('conversation_service_bound_reached_total', { bound }) ?? 0;
