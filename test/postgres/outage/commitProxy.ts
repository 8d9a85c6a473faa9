// A TCP proxy before PostgreSQL that strikes a commit: it is known by what its transaction carried.
import { connect, createServer, type Socket } from 'node:net';
import { listenTracked } from '../../helpers/trackedServer.ts';

/**
 * What befalls a commit: `answer` it is done and nobody hears of it, `request` it never arrives.
 */
export type Strike = 'answer' | 'request';

export interface CommitProxy {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  /** How many commits were struck. */
  readonly struck: number;
  /**
   * The next commit of a transaction that carried this text. Further ones on other connections, if
   * there are, are let through.
   */
  strikeNext(marker: string, what: Strike): void;
  /** From now on nobody is let through: what is open is cut, what comes is refused. */
  setOpen(isOpen: boolean): void;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('COMMIT\0');

export async function startCommitProxy(serverUrl: string): Promise<CommitProxy> {
  const target = new URL(serverUrl);
  const clients = new Set<Socket>();
  let armed: { marker: Buffer; what: Strike } | null = null;
  let struck = 0;
  let isOpen = true;

  const server = createServer({ noDelay: true }, (client) => {
    if (!isOpen) return void client.resetAndDestroy();
    clients.add(client);
    const backend = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let sent = Buffer.alloc(0);
    let swallowed: Buffer | null = null;
    const end = () => {
      clients.delete(client);
      client.destroy();
      backend.destroy();
    };
    client.on('data', (bytes: Buffer) => {
      sent = Buffer.concat([sent, bytes]);
      const isCommit = bytes.includes(COMMIT);
      if (armed !== null && isCommit && sent.includes(armed.marker)) {
        const { what } = armed;
        armed = null;
        struck += 1;
        if (what === 'request') {
          client.resetAndDestroy();
          return void backend.destroy();
        }
        swallowed = Buffer.alloc(0);
      }
      if (isCommit) sent = Buffer.alloc(0);
      backend.write(bytes);
    });
    backend.on('data', (bytes: Buffer) => {
      if (swallowed === null) return void client.write(bytes);
      swallowed = Buffer.concat([swallowed, bytes]);
      if (!swallowed.includes(COMMIT)) return; // answers to what came before it
      // The server has done it, and said so.
      client.resetAndDestroy();
      backend.destroy();
    });
    for (const socket of [client, backend]) socket.on('error', end).on('close', end);
  });
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  const url = new URL(serverUrl);
  url.port = String(tracked.port);
  return {
    url: url.href,
    get struck() {
      return struck;
    },
    strikeNext(marker, what) {
      armed = { marker: Buffer.from(marker), what };
    },
    setOpen(open) {
      isOpen = open;
      if (!open) for (const client of clients) client.resetAndDestroy();
    },
    close: tracked.close,
  };
}
