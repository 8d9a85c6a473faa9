// What the outbound tests share: clients that are always closed, and servers that misbehave byte by
// byte.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { expect } from '@jest/globals';
import {
  createOutboundClient,
  OutboundError,
  type OutboundClient,
  type OutboundErrorKind,
  type OutboundPolicy,
  type OutboundRequest,
} from '../../../../service/src/platform/outbound/outboundClient.ts';
import { sharedTestCa, type KeyPair } from '../../../helpers/tls.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

type Closable = { close(): Promise<void> };

/** Things to close after each test, last opened first. */
export const closing = () => {
  const opened: Closable[] = [];
  return {
    add: <T extends Closable>(closable: T): T => {
      opened.push(closable);
      return closable;
    },
    closeAll: async () => {
      while (opened.length > 0) await opened.pop()?.close();
    },
  };
};

/** A client that may call this machine and trusts the test authority. */
export const localClient = async (policy: Partial<OutboundPolicy> = {}): Promise<OutboundClient> =>
  createOutboundClient({
    allowedNetworks: ['127.0.0.0/8'],
    insecureTargets: false,
    ca: (await sharedTestCa()).ca,
    ...policy,
  });

/** A request as a delivery sends it. An answer that is too large or breaks off is cut. */
export const delivery = (url: string, options: Partial<OutboundRequest> = {}): OutboundRequest => ({
  workspaceId: 'ws_test',
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"id":"evt_1"}',
  timeoutMs: 5_000,
  maxBytes: 64 * 1024,
  onTooLarge: 'cut',
  ...options,
});

/** A request as a tool call sends it. An answer that is not whole is an error. */
export const toolCall = (url: string, options: Partial<OutboundRequest> = {}): OutboundRequest =>
  delivery(url, { onTooLarge: 'fail', maxBytes: 1024 * 1024, ...options });

/** The error that a call fails with; throws when it succeeds or fails otherwise. */
export const failureOf = async (call: Promise<unknown>): Promise<OutboundError> => {
  const outcome = await call.then(
    () => new Error('expected a failure, but the call succeeded'),
    (error: unknown) => error,
  );
  if (outcome instanceof OutboundError) return outcome;
  throw outcome;
};

export const kindOf = async (call: Promise<unknown>): Promise<OutboundErrorKind> =>
  (await failureOf(call)).kind;

/** How a target is refused: by its check and by a request to it, both for the same reason. */
export const refusalOf = async (client: OutboundClient, url: string) => {
  const kind = await kindOf(client.checkTarget(url, 'ws_test'));
  expect(await kindOf(client.request(delivery(url)))).toBe(kind);
  return kind;
};

/** Waits until `condition` holds. */
export const until = (condition: () => boolean) =>
  waitFor(String(condition), condition, { everyMs: 5 });

export interface RawServer extends TrackedServer {
  /** Begins with https://, also for the TCP server, which does not speak TLS. */
  url: string;
}

const listen = async (server: Server): Promise<RawServer> => {
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  return Object.assign(tracked, { url: `https://localhost:${tracked.port}` });
};

/** A server of plain http that answers everything with 200. */
export const startHttp = (): Promise<TrackedServer> =>
  listenTracked(
    createHttpServer((_request, response) => void response.end('ok')),
    0,
    '127.0.0.1',
  );

/** A TCP server that accepts connections and writes nothing by itself. */
export const startTcpServer = (onSocket: (socket: Socket) => void = () => {}): Promise<RawServer> =>
  listen(
    createTcpServer((socket) => {
      onSocket(socket);
      socket.resume(); // a socket that is not read never notices that the other side has gone
    }),
  );

/** A TLS server that writes whatever bytes `onRequest` likes once something has been received. */
export const startRawTlsServer = async (
  onRequest: (socket: TLSSocket) => void,
  certificate?: KeyPair,
): Promise<RawServer> => {
  const server = createTlsServer(certificate ?? (await sharedTestCa()).server, (socket) => {
    socket.on('error', () => {}).once('data', () => onRequest(socket));
  });
  server.on('tlsClientError', () => {}); // clients that hang up during the handshake
  return listen(server);
};

/** A TLS server that answers with the head, and then with these bytes again and again. */
export const startRepeatingServer = (head: string, bytes: string | Buffer, everyMs: number) =>
  startRawTlsServer((socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(bytes), everyMs);
    socket.on('close', () => clearInterval(timer));
  });

/** What code that runs alone imports the client from. */
export const CLIENT_MODULE = new URL(
  '../../../../service/src/platform/outbound/outboundClient.ts',
  import.meta.url,
).href;

/** Runs a TypeScript module in its own process. Resolves when it has exited, with its output. */
export const runAlone = async (
  code: string,
  env: Record<string, string>,
  flags: readonly string[] = [],
) => {
  const child = spawn(
    process.execPath,
    [...flags, '--input-type=module-typescript', '--eval', code],
    {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { out, err, exitCode };
};
