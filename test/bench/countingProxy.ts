// A TCP proxy before PostgreSQL that counts what one process asks for.
import { connect, createServer } from 'node:net';
import { listenTracked } from '../helpers/trackedServer.ts';

export interface Traffic {
  /** Statements, BEGIN and COMMIT included. */
  readonly statements: number;
  /** What is sent without waiting for an answer is one trip. */
  readonly trips: number;
}

export interface CountingProxy {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  readonly traffic: Traffic;
  close(): Promise<void>;
}

/** The messages of the protocol that run something: Execute, and Query. */
const RUNS: ReadonlySet<number> = new Set([0x45, 0x51]);
const LENGTH_BYTES = 4;

export async function startCountingProxy(serverUrl: string): Promise<CountingProxy> {
  const target = new URL(serverUrl);
  let statements = 0;
  let trips = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const backend = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    const count = messageCounter((type) => {
      if (RUNS.has(type)) statements += 1;
    });
    let isAsking = false;
    client.on('data', (bytes: Buffer) => {
      if (!isAsking) trips += 1;
      isAsking = true;
      count(bytes);
      backend.write(bytes);
    });
    backend.on('data', (bytes: Buffer) => {
      isAsking = false;
      client.write(bytes);
    });
    const end = () => (client.destroy(), backend.destroy());
    for (const socket of [client, backend]) socket.on('error', end).on('close', end);
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

/** Calls back with the type of each message. The first one of a connection has none. */
function messageCounter(onMessage: (type: number) => void): (bytes: Buffer) => void {
  let pending = Buffer.alloc(0);
  let typeBytes = 0;
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= typeBytes + LENGTH_BYTES) {
      const length = typeBytes + pending.readUInt32BE(typeBytes);
      if (pending.length < length) return;
      if (typeBytes === 1) onMessage(pending[0]!);
      pending = pending.subarray(length);
      typeBytes = 1;
    }
  };
}
