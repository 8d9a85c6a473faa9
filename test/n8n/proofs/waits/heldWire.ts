import { buffer } from 'node:stream/consumers';
import { startHttpServer } from '../../../nodes/helpers/strangers.ts';

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
  let hold: (exchange: Exchange) => Promise<void> = async () => {};
  const server = await startHttpServer(async (req, res) => {
    const body = await buffer(req);
    const { method = '', url: path = '' } = req;
    const { host: _1, connection: _2, 'content-length': _3, ...headers } = req.headers;
    const answer = await fetch(service + path, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    const text = await answer.text();
    const sent = body.length > 0 ? JSON.parse(body.toString()) : {};
    await hold({ method, path, sent, answered: JSON.parse(text) });
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  return {
    ...server,
    /** Runs when the service has answered, and before n8n hears of it. */
    holdAnswers(before: typeof hold) {
      hold = before;
    },
  };
}
