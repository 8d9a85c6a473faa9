import { runOn, type Database, type Result } from '../connection/database.ts';

/** A look reads at most this many of the jobs that are due next. */
const MAX_UPCOMING = 500;

/** What a look saw of a group. */
interface SeenGroup {
  /** As stored in the table. */
  readonly group: string;
  /** When its next job is due, by the database's clock; null: it has a job that is due. */
  readonly dueAt: number | null;
}

/** What a look at a queue saw. */
export interface Look {
  /** The database's time. */
  readonly now: number;
  readonly groups: readonly SeenGroup[];
  /** When the last of the upcoming jobs that were read is due; null when all were read. */
  readonly readUntil: number | null;
}

/** The table of jobs, and the database's clock in milliseconds, as SQL. */
interface JobsSql {
  readonly jobs: string;
  readonly nowSql: string;
}

/**
 * Finds a queue's groups with due jobs, and its next jobs.
 * @param from finds only what became due after this, by the database's clock; null finds all
 */
export async function lookAt(
  database: Database,
  sql: JobsSql,
  queue: string,
  from: number | null,
): Promise<Look> {
  const { rows } = await runOn(
    database,
    from === null
      ? { text: lookSql(allDue(sql), sql), values: [queue], name: 'cs_look_at_all' }
      : { text: lookSql(dueSince(sql), sql), values: [queue, from], name: 'cs_look' },
  );
  return lookOf(rows);
}

const lookSql = (due: string, { jobs, nowSql }: JobsSql): string => `WITH ${due},
    upcoming AS (SELECT group_key, min(due_at) AS due_at, max(max(due_at)) OVER () AS read_until, sum(count(*)) OVER () AS read FROM (
      SELECT group_key, due_at FROM ${jobs} WHERE queue = $1 AND due_at > (${nowSql}) ORDER BY due_at LIMIT ${MAX_UPCOMING}) u GROUP BY group_key)
    SELECT (${nowSql})::float8 AS now, s.* FROM (SELECT 1) one LEFT JOIN (
      SELECT group_key, NULL::float8 AS due_at, NULL::float8 AS read_until FROM due
      UNION ALL SELECT group_key, due_at::float8, CASE WHEN read = ${MAX_UPCOMING} THEN read_until::float8 END FROM upcoming) s ON true`;

const dueSince = ({ jobs, nowSql }: JobsSql): string =>
  `due AS (SELECT DISTINCT group_key FROM ${jobs} WHERE queue = $1 AND due_at > $2 AND due_at <= (${nowSql}))`;

/** Steps from group to group, so that it reads no group's backlog. */
const allDue = ({ jobs, nowSql }: JobsSql): string => `RECURSIVE g AS (
      (SELECT group_key FROM ${jobs} WHERE queue = $1 ORDER BY group_key LIMIT 1)
      UNION ALL
      SELECT n.group_key FROM g CROSS JOIN LATERAL
        (SELECT j.group_key FROM ${jobs} j WHERE j.queue = $1 AND j.group_key > g.group_key ORDER BY j.group_key LIMIT 1) n),
    due AS (SELECT group_key FROM g WHERE ${earliestDue(jobs)} <= (${nowSql}))`;

/** When the first job of the group is due. Reads the beginning of the index twice. */
const earliestDue = (jobs: string): string => {
  const earliestOf = (kind: string) =>
    `(SELECT min(due_at) FROM ${jobs} j WHERE j.queue = $1 AND j.group_key = g.group_key AND ${kind})`;
  return `least(${earliestOf('NOT j.is_retry')}, ${earliestOf('j.is_retry')})`;
};

/** @param rows one or two for each group (a due job, the next job), or one without a group */
const lookOf = (rows: Result['rows']): Look => ({
  now: Number(rows[0]!.now),
  readUntil: rows.reduce<number | null>(
    (until, row) => until ?? numberOrNull(row.read_until),
    null,
  ),
  groups: rows
    .filter(({ group_key }) => group_key !== null)
    .map(({ group_key, due_at }) => ({ group: String(group_key), dueAt: numberOrNull(due_at) })),
});

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));
