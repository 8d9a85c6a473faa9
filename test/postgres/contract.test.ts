import { openInFreshSchema } from '../contract/openInFreshSchema.ts';
import { storeContract } from '../contract/storeContract.ts';
import { dropSchema } from './schemas.ts';

const url = process.env.DATABASE_URL!;

storeContract('PostgreSQL, on a server', () =>
  openInFreshSchema(
    () => url,
    (schema) => dropSchema(url, schema),
  ),
);
