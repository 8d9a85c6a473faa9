// What can stand at an address instead of the service, or between it and n8n.
import { createServer, request, type RequestListener, type ServerResponse } from 'node:http';
import { listenTracked } from '../../helpers/trackedServer.ts';

export interface HttpServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startHttpServer(listener: RequestListener): Promise<HttpServer> {
  const { port, close } = await listenTracked(createServer(listener), 0, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}`, close };
}

/** A web page that is not the service. */
export const startWebPage = (): Promise<HttpServer> =>
  startHttpServer((_req, res) =>
    res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works</h1>'),
  );

/** An address where nothing listens. */
export async function freeAddress(): Promise<string> {
  const { url, close } = await startHttpServer(() => {});
  await close();
  return url;
}

/** A call that came over a wire. */
interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, unknown>;
  /** The status that the service answered with; undefined until then. */
  status?: number;
}

export interface Wire extends HttpServer {
  /** Called for each answer of the service; true loses it: the caller sees a broken connection. */
  loses: (method: string, path: string) => boolean;
  /**
   * Called for each call: a status refuses it with an error of that status, before the service sees
   * it.
   */
  refuses?: (method: string, path: string) => number | undefined;
  /** Runs before a call is passed on. */
  before?: (method: string, path: string) => Promise<void>;
  /**
   * Seconds to wait, for each of the next calls that is refused with a 429 before the service sees
   * it.
   */
  readonly refusals: number[];
  readonly seen: SeenCall[];
  /** Works from now on, and has seen nothing. */
  reset(): void;
}

/** Refuses a call in the service's form of an error. */
const refuse = (
  res: ServerResponse,
  status: number,
  error: { code: string; message: string },
  headers: Record<string, string> = {},
) =>
  void res
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ error: { ...error, request_id: 'req_1' } }));

/** A line to the service that can lose an answer on its way back, after the service has acted. */
export async function startWire(target: () => string): Promise<Wire> {
  const seen: SeenCall[] = [];
  const refusals: number[] = [];
  const server = await startHttpServer((req, res) => {
    const { method = '', url = '', headers } = req;
    const call: SeenCall = { method, path: url, headers };
    seen.push(call);
    const waitSeconds = refusals.shift();
    if (waitSeconds !== undefined) {
      const error = { code: 'rate_limited', message: 'Too many calls.' };
      return refuse(res, 429, error, { 'retry-after': String(waitSeconds) });
    }
    const passOn = () => {
      const status = wire.refuses?.(method, url);
      if (status !== undefined)
        return refuse(res, status, { code: 'internal', message: 'Something broke.' });
      const onward = request(target() + url, { method, headers }, (answer) => {
        call.status = answer.statusCode;
        if (wire.loses(method, url)) {
          answer.resume().once('end', () => res.destroy());
          return;
        }
        res.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(res);
      });
      onward.once('error', () => res.destroy());
      req.pipe(onward);
    };
    Promise.resolve(wire.before?.(method, url)).then(passOn, () => res.destroy());
  });
  const wire: Wire = {
    ...server,
    seen,
    refusals,
    loses: () => false,
    reset() {
      seen.length = 0;
      refusals.length = 0;
      Object.assign(wire, { refuses: undefined, before: undefined, loses: () => false });
    },
  };
  return wire;
}
