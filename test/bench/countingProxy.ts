// A TCP proxy in front of PostgreSQL that counts what one process asks for.
import { connect, createServer } from 'node:net';
import { listenTracked } from '../helpers/trackedServer.ts';

export interface Traffic {
  /** Statements, BEGIN and COMMIT included. */
  readonly statements: number;
  /** Whatever is sent without an answer in between is one trip. */
  readonly trips: number;
}

export interface CountingProxy {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  readonly traffic: Traffic;
  close(): Promise<void>;
}

/** The types of the protocol's messages that run a statement: `E` for Execute, `Q` for Query. */
const STATEMENT_TYPES: ReadonlySet<string> = new Set(['E', 'Q']);
const LENGTH_BYTES = 4;

export async function startCountingProxy(serverUrl: string): Promise<CountingProxy> {
  const target = new URL(serverUrl);
  let statements = 0;
  let trips = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const backend = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const read = messageReader((type) => {
      if (STATEMENT_TYPES.has(type)) statements += 1;
    });
    let isAsking = false;
    client.on('data', (bytes: Buffer) => {
      if (!isAsking) trips += 1;
      isAsking = true;
      read(bytes);
      backend.write(bytes);
    });
    backend.on('data', (bytes: Buffer) => {
      isAsking = false;
      client.write(bytes);
    });
    const sockets = [client, backend];
    const end = () => {
      for (const socket of sockets) socket.destroy();
    };
    for (const socket of sockets) socket.on('error', end).on('close', end);
  });
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  const url = new URL(serverUrl);
  url.port = String(tracked.port);
  return {
    url: url.href,
    get traffic() {
      return { statements, trips };
    },
    close: tracked.close,
  };
}

/** Calls back with the type of each message. The first message of a connection has no type. */
function messageReader(onMessage: (type: string) => void): (bytes: Buffer) => void {
  let pending = Buffer.alloc(0);
  let typeBytes = 0;
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= typeBytes + LENGTH_BYTES) {
      const length = typeBytes + pending.readUInt32BE(typeBytes);
      if (pending.length < length) return;
      if (typeBytes === 1) onMessage(String.fromCharCode(pending[0]!));
      pending = pending.subarray(length);
      typeBytes = 1;
    }
  };
}
