import { PGlite } from '@electric-sql/pglite';
import {
  addWords,
  baseTables,
  createTable,
  generationTable,
  openPostgresStore,
  selectiveFields,
  sharedGroups,
  type Database,
  type Migrations,
} from '../../service/src/store/postgres/index.ts';
import { TestClock } from '../helpers/testClock.ts';
import { PgliteDatabase } from './pgliteDatabase.ts';
import { CONTRACT_NOW, contractSchema, type ContractStore } from './schema.ts';

export const contractMigrations: Migrations = {
  '0001_contract': (schema) =>
    [
      baseTables(schema),
      createTable(
        schema,
        'things',
        [
          { on: ['group'] },
          { on: ['group'], orderBy: 'at' },
          { on: ['group', 'kind'], orderBy: 'at' },
          { on: [], orderBy: 'number' },
          { on: ['code'], unique: true },
        ],
        { number: 'double precision' },
      ),
      addWords(schema, 'things'),
      createTable(schema, 'others', []),
      generationTable(schema),
      sharedGroups(schema),
      selectiveFields(schema),
    ].join('\n'),
};

/**
 * A store on a schema of its own, and clocks that only the test moves: this process's, and the
 * database's, which no restart touches.
 */
export const openInFreshSchema = async (
  database: () => string | Database,
  drop: (schema: string) => Promise<void>,
  schema = `contract_${Math.random().toString(36).slice(2, 10)}`,
) => {
  const clock = new TestClock(CONTRACT_NOW);
  let databaseMs = CONTRACT_NOW;
  const open = (): Promise<ContractStore> =>
    openPostgresStore(contractSchema, {
      database: database(),
      schema,
      migrations: contractMigrations,
      queues: ['deliveries', 'tools', 'elsewhere', 'q'],
      clock,
      databaseNow: () => databaseMs,
    });
  let store = await open();
  return {
    schema,
    store,
    clock: {
      now: () => clock.now(),
      jump: (ms: number) => clock.jump(ms),
      advance(ms: number) {
        clock.advance(ms);
        databaseMs += ms;
      },
    },
    async reopen() {
      await store.close();
      clock.restart();
      store = await open();
      return store;
    },
    async remove() {
      await store.close();
      await drop(schema);
    },
  };
};

/**
 * Each serves one store at a time, since it has one connection, and holds a schema that was
 * emptied.
 */
const idle: { readonly pglite: PGlite; readonly schema?: string }[] = [];

/**
 * Opens a store on PGlite, in this process. Making the tables takes three times as long as emptying
 * them, so those of a removed store are used again.
 */
export const openInPglite = async () => {
  const { pglite, schema: used } = idle.pop() ?? { pglite: await PGlite.create() };
  const { schema, ...opened } = await openInFreshSchema(
    () => new PgliteDatabase(pglite),
    (name) => empty(pglite, name),
    used,
  );
  return {
    ...opened,
    async remove() {
      await opened.remove();
      idle.push({ pglite, schema });
    },
  };
};

/** Closes the idle databases. For the end of a test file: each holds a few hundred megabytes. */
export const closePglite = async (): Promise<void> => {
  await Promise.all(idle.splice(0).map(({ pglite }) => pglite.close()));
};

/** What says which tables there are. */
const KEPT = ['migrations', 'migrations_lock'];

/** Deletes what was stored. */
async function empty(pglite: PGlite, schema: string): Promise<void> {
  const { rows } = await pglite.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> ALL($2)`,
    [schema, KEPT],
  );
  await pglite.exec(rows.map(({ name }) => `DELETE FROM ${name};`).join(''));
}
