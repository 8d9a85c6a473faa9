import { openInPglite } from './openInFreshSchema.ts';
import { storeContract } from './storeContract.ts';

storeContract('PostgreSQL, in this process', openInPglite);
