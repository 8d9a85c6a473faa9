import {
  createServer,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Bounds } from '../limits/bounds.ts';
import type { Connections } from './connections.ts';

export interface ServerLimits {
  /** For a request's headers to arrive whole. */
  readonly headersTimeoutMs: number;
  /**
   * For a request to arrive whole: the largest body over a slow line. Its answer may take as long
   * as it takes.
   */
  readonly requestTimeoutMs: number;
  /**
   * For the next request to begin: longer than proxies keep a connection (nginx 60 s, Caddy 2
   * minutes), so that they are the ones who close it, and never send into one that is being closed.
   */
  readonly keepAliveMs: number;
  /** What is late is looked for so often. */
  readonly lookEveryMs: number;
  /** In all: twice what streams may hold, some 10 kB each. */
  readonly maxConnections: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 130_000,
  lookEveryMs: 2000,
  maxConnections: 10_000,
};

/**
 * Requests of one connection that have no answer yet. Browsers, proxies and n8n send the next one
 * after the answer; a connection with a thousand at once would have all of them, and all answers,
 * in memory.
 */
export const MAX_PIPELINED_REQUESTS = 10;

/**
 * Of all connections, so many are kept free for newcomers: at that, some of those who have the most
 * end.
 */
const SOME = 0.01;

/** Between two times that idle connections are closed to make room. */
const MAKE_ROOM_EVERY_MS = 1000;

/** The server of every role: nobody may be slow without end, or take all connections. */
export function createBoundedServer(
  app: RequestListener,
  {
    connections,
    bounds,
    limits = SERVER_LIMITS,
  }: { connections: Connections; bounds: Bounds; limits?: ServerLimits },
): Server {
  const answering = new WeakMap<object, ServerResponse>();
  const pipelined = new Pipelined();
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.lookEveryMs,
    },
    (request, response) => {
      const { socket } = request;
      if (socket.destroyed) return; // What came in the same packet is still told of.
      if (!pipelined.enter(socket, response)) {
        bounds.reached('pipelined_requests');
        // An answer would be taken for that of the first request.
        return void socket.destroy();
      }
      answering.set(socket, response);
      app(request, response);
    },
  );
  server.maxConnections = limits.maxConnections;
  let open = 0;
  const few = Math.ceil(limits.maxConnections * SOME);
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    connections.admit(socket);
    if (open <= limits.maxConnections - few) return;
    bounds.reached('connections');
    connections.endSome(few);
  });
  let madeRoomAt = -Infinity;
  server.on('drop', () => {
    bounds.reached('connections');
    // Connections that wait for a next request are missed least.
    if (performance.now() - madeRoomAt < MAKE_ROOM_EVERY_MS) return;
    madeRoomAt = performance.now();
    server.closeIdleConnections();
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') bounds.reached('slow_requests');
    refuse(socket, STATUS_OF[code ?? ''] ?? 400, answering.get(socket));
  });
  return server;
}

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/**
 * What could not be read gets a bare answer, unless another one has begun; then the connection
 * ends.
 */
function refuse(socket: Socket, status: number, response: ServerResponse | undefined): void {
  const isAnswered =
    response !== undefined &&
    response.headersSent &&
    !(response.writableFinished && response.req.complete);
  if (socket.writable && !isAnswered)
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
  socket.destroySoon();
}

/** Counts the requests under way on each connection. */
class Pipelined {
  readonly #underWay = new WeakMap<Socket, number>();

  /** @returns whether the connection may have one more */
  enter(socket: Socket, response: ServerResponse): boolean {
    const underWay = this.#underWay.get(socket) ?? 0;
    if (underWay >= MAX_PIPELINED_REQUESTS) return false;
    this.#underWay.set(socket, underWay + 1);
    response.once('close', () => void this.#underWay.set(socket, this.#underWay.get(socket)! - 1));
    return true;
  }
}
