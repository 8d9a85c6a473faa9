// What the servers of providers share: reading and writing JSON, and a body without end.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** The body; null when it is no JSON. */
export const readJson = async (req: IncomingMessage): Promise<unknown> => {
  const body = await text(req);
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
};

export const respondJson = (
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  void res
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));

/** Writes a body without end, as fast as it is read. */
export function writeForEver(res: ServerResponse, status: number): void {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  res.writeHead(status, { 'content-type': 'application/json' });
  const pump = () => {
    while (!res.destroyed && res.write(chunk));
  };
  res.on('drain', pump);
  pump();
}
