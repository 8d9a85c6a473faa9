import { buffer } from 'node:stream/consumers';
import { startHttpServer } from '../../../nodes/helpers/strangers.ts';

interface Exchange {
  method: string;
  path: string;
  /** The body that n8n sent. */
  sent: Record<string, unknown>;
  /** The body that the service answered with. */
  answered: Record<string, unknown>;
}

type Hold = (exchange: Exchange) => Promise<void>;
export type HeldWire = Awaited<ReturnType<typeof startHeldWire>>;

/** A line from n8n to the service that can hold back the service's answers. */
export async function startHeldWire(serviceUrl: string) {
  let hold: Hold = async () => {};
  const server = await startHttpServer(async (req, res) => {
    const body = await buffer(req);
    const { method = '', url: path = '' } = req;
    const { host: _1, connection: _2, 'content-length': _3, ...headers } = req.headers;
    const answer = await fetch(serviceUrl + path, {
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
    /** Holds each answer of the service back from n8n until this has run. */
    holdAnswers(next: Hold) {
      hold = next;
    },
  };
}
