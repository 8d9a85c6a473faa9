import {
  createServer,
  STATUS_CODES,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Bounds } from '../../limits/bounds.ts';
import type { Connections } from './connections.ts';

export interface ServerLimits {
  /** How long a request's headers may take to arrive. */
  readonly headersTimeoutMs: number;
  /** How long a whole request may take to arrive: the largest body over a slow line. */
  readonly requestTimeoutMs: number;
  /**
   * How long an idle connection waits for the next request: longer than proxies keep idle
   * connections (nginx 60 s, Caddy 2 minutes). So the proxy is the one that closes, and it never
   * sends a request into a connection that is closing.
   */
  readonly keepAliveMs: number;
  /** How often the server looks for requests that have exceeded their time. */
  readonly lookEveryMs: number;
  /** Twice as many as all streams together may hold. Each connection takes about 10 kB. */
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
 * The most requests of one connection without an answer. Browsers, proxies and n8n wait for each
 * answer. A connection with a thousand requests would hold all of them, and their answers, in
 * memory.
 */
const MAX_PIPELINED_REQUESTS = 10;

/**
 * The share of all connections that is kept free for new ones. When less is free, connections of
 * the addresses that have the most are ended.
 */
const FREE_SHARE = 0.01;

/** To make room, idle connections are closed at most this often. */
const MAKE_ROOM_EVERY_MS = 1000;

const openSockets = new WeakMap<Server, Set<Socket>>();

/**
 * The server of every role. It limits how slow a client may be and how many connections it holds.
 */
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
      if (socket.destroyed) return; // Node still reports what arrived in the same packet.
      if (!pipelined.enter(socket, response)) {
        bounds.reached('pipelined_requests');
        // The client would take a refusal for the answer to its first request.
        return void socket.destroy();
      }
      answering.set(socket, response);
      app(request, response);
    },
  );
  server.maxConnections = limits.maxConnections;
  const open = new Set<Socket>();
  openSockets.set(server, open);
  const keptFree = Math.ceil(limits.maxConnections * FREE_SHARE);
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    connections.admit(socket);
    if (open.size <= limits.maxConnections - keptFree) return;
    bounds.reached('connections');
    connections.endSome(keptFree);
  });
  let madeRoomAt = -Infinity;
  server.on('drop', () => {
    bounds.reached('connections');
    // Closing idle connections does the least harm.
    if (performance.now() - madeRoomAt < MAKE_ROOM_EVERY_MS) return;
    madeRoomAt = performance.now();
    server.closeIdleConnections();
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') bounds.reached('slow_requests');
    const status = STATUS_OF[code ?? ''] ?? 400;
    if (pipelined.isAnswering(socket)) socket.destroySoon();
    else refuse(socket, status, answering.get(socket));
  });
  return server;
}

/**
 * For a stop: closes connections without a request under way. Those that have not had their first
 * request, such as the ones that browsers open in advance, are not idle to Node.
 */
export function closeUnusedConnections(server: Server): void {
  server.closeIdleConnections();
  for (const socket of openSockets.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
}

const STATUS_OF: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/**
 * Answers a request that could not be read, unless an answer has begun, and ends the connection.
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

/** The requests under way on each connection. */
class Pipelined {
  readonly #underWay = new WeakMap<Socket, Set<ServerResponse>>();

  /** Counts a request. @returns false when the connection has too many under way */
  enter(socket: Socket, response: ServerResponse): boolean {
    const underWay = this.#underWay.get(socket) ?? new Set();
    if (underWay.size >= MAX_PIPELINED_REQUESTS) return false;
    this.#underWay.set(socket, underWay.add(response));
    response.once('close', () => underWay.delete(response));
    return true;
  }

  /** Whether a part of an answer has been sent: what is written now would become part of it. */
  isAnswering(socket: Socket): boolean {
    const underWay = [...(this.#underWay.get(socket) ?? [])];
    return underWay.some((each) => each.headersSent && !each.writableFinished);
  }
}
