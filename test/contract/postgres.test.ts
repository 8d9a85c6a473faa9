import { afterAll } from '@jest/globals';
import { closePglite, openInPglite } from './openInFreshSchema.ts';
import { storeContract } from './storeContract.ts';

storeContract('PostgreSQL, in this process', openInPglite);
afterAll(closePglite);
