// A bare undici loop: sends the given requests round and round over a fixed number of connections.
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { answerQuestions } from './children.ts';
import { repeat } from './repeat.ts';
import { quantile } from './statistics.ts';

/** The place in a body where each request has an id of its own. */
export const FRESH_ID = '{{fresh id}}';

export interface LoopQuestion {
  readonly origin: string;
  /** PEM to trust, for https. */
  readonly ca?: string;
  readonly connections: number;
  readonly count: number;
  /** Taken in turn, as `tokens` are. */
  readonly paths: readonly string[];
  /** Each sent as a Bearer token; none when left out. */
  readonly tokens?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expectedStatus: number;
}

export interface LoopReport {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The last answer's body. */
  readonly answer: string;
}

const pools = new Map<string, Pool>();

function poolFor({ origin, ca, connections }: LoopQuestion): Pool {
  const key = `${origin} ${connections}`;
  let pool = pools.get(key);
  if (pool === undefined) {
    pool = new Pool(origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveMaxTimeout: 60_000,
      ...(ca === undefined ? {} : { connect: { ca } }),
    });
    pools.set(key, pool);
  }
  return pool;
}

const loop = async (question: LoopQuestion): Promise<LoopReport> => {
  const pool = poolFor(question);
  const { count, paths, tokens = [], body, expectedStatus } = question;
  const headers =
    tokens.length === 0
      ? [question.headers]
      : tokens.map((token) => ({ ...question.headers, authorization: `Bearer ${token}` }));
  const hasFreshId = body.includes(FRESH_ID);
  const latenciesMs: number[] = [];
  let answer = '';
  const startedAt = performance.now();
  await repeat(
    count,
    async (n) => {
      const path = paths[n % paths.length]!;
      const request = {
        method: 'POST',
        path,
        headers: headers[n % headers.length]!,
        body: hasFreshId ? body.replace(FRESH_ID, randomUUID()) : body,
      } as const;
      const sentAt = performance.now();
      const response = await pool.request(request);
      answer = await response.body.text();
      latenciesMs.push(performance.now() - sentAt);
      if (response.statusCode !== expectedStatus)
        throw new Error(`POST ${path} answered ${response.statusCode}: ${answer}`);
    },
    question.connections,
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    perSecond: count / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    answer,
  };
};

if (process.send !== undefined) answerQuestions(loop);
