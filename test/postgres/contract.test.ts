import { afterAll } from '@jest/globals';
import { reuseSchemas } from '../contract/reuseSchemas.ts';
import { storeContract } from '../contract/storeContract.ts';
import { query } from './client.ts';
import { dropSchema } from './schemas.ts';

const url = process.env.DATABASE_URL!;
const server = { database: () => url, exec: (sql: string) => query(url, sql) };

const { open, idle } = reuseSchemas(async () => server);
storeContract('PostgreSQL, on a server', open);
afterAll(() => Promise.all(idle.map(({ schema }) => dropSchema(url, schema))));
