// What limits count on PostgreSQL: the table does not grow without end, and simultaneous counts add
// up.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import {
  postgresLimiters,
  type CountingStore,
} from '../../../service/src/platform/limits/postgresLimiters.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { freshSchema, openClient, openStore, removeSchema } from './contractStores.ts';

let schema: string;
let store: ContractStore;
let client: pg.Client;
beforeEach(async () => {
  schema = freshSchema();
  store = await openStore(schema, { maxCounts: 100, sweepCountsMs: 20 });
  client = await openClient();
});
afterEach(async () => {
  await store.close();
  await client.end();
  await removeSchema(schema);
});

it('keeps only the counts that end last when there are too many', async () => {
  const begun = Date.now();
  await client.query(
    `INSERT INTO "${schema}".counts SELECT 'key' || n, 1, $1::bigint + n FROM generate_series(1, 5000) n`,
    [begun + 60_000],
  );
  const rows = async () =>
    (
      await client.query<{ first: string; many: number }>(
        `SELECT min(expire)::text AS first, count(*)::int AS many FROM "${schema}".counts`,
      )
    ).rows[0]!;
  await waitFor('the sweep', async () => (await rows()).many === 100);
  expect(Number((await rows()).first)).toBe(begun + 60_000 + 4901);
});

it('gives each of several simultaneous calls the answer to its own count', async () => {
  const limiter = postgresLimiters(store as unknown as CountingStore)({
    name: 'test',
    most: 4,
    seconds: 60,
  });
  const counted = await Promise.all(
    ['a', 'b', 'a', 'a', 'b', 'a', 'a', 'a'].map((key) => limiter.count(key)),
  );
  expect(counted.map((waitMs) => waitMs === null)).toEqual([
    ...Array<boolean>(6).fill(true),
    ...Array<boolean>(2).fill(false),
  ]);
  expect(counted[7]).toBeGreaterThan(50_000);
  expect(await limiter.count('b', 2)).toBeNull();
  expect(await limiter.count('b')).toBeGreaterThan(50_000);
});

it('takes a count back, and never counts below zero', async () => {
  const limiter = postgresLimiters(store as unknown as CountingStore)({
    name: 'test',
    most: 4,
    seconds: 60,
    forgives: true,
  });
  await limiter.takeBack('a');
  for (const many of [1, 2]) expect(await limiter.add('a')).toBe(many);
  await limiter.takeBack('a');
  expect(await limiter.add('a')).toBe(2);
});

it('refuses nothing for longer than the span when the wall clock is set back', async () => {
  const limiter = postgresLimiters(store as unknown as CountingStore)({
    name: 'test',
    most: 1,
    seconds: 60,
  });
  const hourMs = 3_600_000;
  const realNow = Date.now;
  Date.now = () => realNow() + hourMs;
  try {
    expect(await limiter.count('a')).toBeNull();
  } finally {
    Date.now = realNow;
  }
  expect(await limiter.count('a')).toBeLessThanOrEqual(60_000);
});
