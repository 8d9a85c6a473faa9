import { openPostgresStore, type Database } from '../../service/src/store/postgres/index.ts';
import { TestClock } from '../helpers/testClock.ts';
import { contractMigrations } from './migrations.ts';
import { CONTRACT_NOW, contractSchema, type ContractStore } from './schema.ts';

/** A database whose schemas are used again. */
interface ReusedDatabase {
  database(): string | Database;
  exec(sql: string): Promise<unknown>;
}

/**
 * Opens stores, each in a schema of its own. Making the tables takes three times as long as emptying
 * them, so the schema of a removed store is used again.
 * @param make called when no schema is idle
 */
export function reuseSchemas<T extends ReusedDatabase>(make: () => Promise<T>) {
  const idle: { readonly on: T; readonly schema: string }[] = [];
  const open = async () => {
    const used = idle.pop() ?? {
      on: await make(),
      schema: `contract_${Math.random().toString(36).slice(2, 10)}`,
    };
    const { on, schema } = used;
    const { close, ...opened } = await openInSchema(() => on.database(), schema);
    return {
      ...opened,
      async remove() {
        await close();
        await on.exec(emptying(schema));
        idle.push(used);
      },
    };
  };
  return { open, idle };
}

/** The SQL that empties all tables except those of the migrations. */
const emptying = (schema: string) => `DO $$
  DECLARE filled record;
  BEGIN
    FOR filled IN SELECT tablename AS name FROM pg_tables
      WHERE schemaname = '${schema}' AND tablename NOT IN ('migrations', 'migrations_lock')
    LOOP
      EXECUTE format('DELETE FROM %I.%I', '${schema}', filled.name);
    END LOOP;
  END $$`;

/**
 * Opens a store with clocks that only the test moves: this process's, and the database's, which a
 * restart of the process does not change.
 */
async function openInSchema(database: () => string | Database, schema: string) {
  const clock = new TestClock(CONTRACT_NOW);
  let databaseMs = CONTRACT_NOW;
  const open = (): Promise<ContractStore> =>
    openPostgresStore(contractSchema, {
      database: database(),
      schema,
      migrations: contractMigrations,
      queues: ['q', 'tools', 'elsewhere'],
      clock,
      databaseNow: () => databaseMs,
    });
  let store = await open();
  return {
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
    close: () => store.close(),
  };
}
