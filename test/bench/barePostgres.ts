// A bare Express route that writes two rows in one transaction: what a durable answer costs without
// anything around it.
import { createServer } from 'node:http';
import express from 'express';
import pg from 'pg';
import { listenTracked } from '../helpers/trackedServer.ts';
import { answerQuestions } from './children.ts';

const CONNECTIONS = 10;
const CONVERSATIONS = 1024;
const SCHEMA = 'bench_bare';

let pool: pg.Pool;

async function listen({ url }: { readonly url: string }): Promise<number> {
  pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  await pool.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
    CREATE TABLE IF NOT EXISTS ${SCHEMA}.conversations (id int PRIMARY KEY, document json NOT NULL);
    CREATE TABLE IF NOT EXISTS ${SCHEMA}.messages (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, conversation int NOT NULL, document json NOT NULL);
    INSERT INTO ${SCHEMA}.conversations SELECT n, '{}' FROM generate_series(1, ${CONVERSATIONS}) n ON CONFLICT DO NOTHING`);
  const app = express();
  app.use(express.json());
  app.post('/', async (request, response) => {
    response.status(201).json(await write(request.body));
  });
  return (await listenTracked(createServer(app), 0, '127.0.0.1')).port;
}

async function write(body: unknown): Promise<{ id: string }> {
  const conversation = 1 + Math.floor(Math.random() * CONVERSATIONS);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ id: string }>({
      name: 'insert',
      text: `INSERT INTO ${SCHEMA}.messages (conversation, document) VALUES ($1, $2) RETURNING id`,
      values: [conversation, JSON.stringify(body)],
    });
    await client.query({
      name: 'update',
      text: `UPDATE ${SCHEMA}.conversations SET document = $2 WHERE id = $1`,
      values: [conversation, JSON.stringify(body)],
    });
    await client.query('COMMIT');
    return { id: rows[0]!.id };
  } finally {
    client.release();
  }
}

answerQuestions(listen);
