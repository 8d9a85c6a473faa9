import { createServer } from 'node:http';
import { listenTracked } from '../../../helpers/trackedServer.ts';

interface Exchange {
  method: string;
  path: string;
  /** What n8n sent, and what the service answered. */
  sent: Record<string, unknown>;
  answered: Record<string, unknown>;
}

/**
 * A line from n8n to the service on which an answer can be held back.
 * @param service its address
 */
export async function startHeldWire(service: string) {
  const held: { before: (exchange: Exchange) => Promise<void> } = { before: async () => {} };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url: path = '' } = req;
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      ...headers
    } = req.headers;
    const answer = await fetch(service + path, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    const text = await answer.text();
    const sent = body.length > 0 ? JSON.parse(body.toString()) : {};
    await held.before({ method, path, sent, answered: JSON.parse(text) });
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  return Object.assign(tracked, {
    url: `http://127.0.0.1:${tracked.port}`,
    /** Runs when the service has answered, and before n8n hears of it. */
    holdAnswers(before: (exchange: Exchange) => Promise<void>) {
      held.before = before;
    },
  });
}
