import { afterAll, jest } from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { reuseSchemas } from './reuseSchemas.ts';
import { PgliteDatabase } from './pgliteDatabase.ts';
import { storeContract } from './storeContract.ts';

// Opening the first database compiles PostgreSQL: half a minute on a busy machine.
jest.setTimeout(120_000);

// Each database serves one store at a time, since it has one connection.
const { open, idle } = reuseSchemas(async () => {
  const pglite = await PGlite.create();
  return {
    database: () => new PgliteDatabase(pglite),
    exec: (sql) => pglite.exec(sql),
    close: () => pglite.close(),
  };
});

// Each database costs seconds. `npm run test:postgres` also tests moving, on a real server.
storeContract('PostgreSQL, in this process', open, { isMoving: false });
afterAll(() => Promise.all(idle.map(({ on }) => on.close())));
