import { afterAll, jest } from '@jest/globals';
import { closePglite, openInPglite } from './openInFreshSchema.ts';
import { storeContract } from './storeContract.ts';

// The first one compiles PostgreSQL: half a minute on a busy machine.
jest.setTimeout(120_000);
// Each database costs seconds. `npm run test:postgres` moves, too, on a real server.
storeContract('PostgreSQL, in this process', openInPglite, { isMoving: false });
afterAll(closePglite);
