// A TCP proxy in front of PostgreSQL. It strikes the commit of a transaction that carried a certain
// text: it cuts the connection before the commit arrives, or before its answer does.
import { connect, createServer, type Socket } from 'node:net';
import { listenTracked } from '../../helpers/trackedServer.ts';

/**
 * What is lost. `answer`: the commit is done, and nobody hears of it. `request`: it never arrives.
 */
type Strike = 'answer' | 'request';

export interface CommitProxy {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  /** How many commits were struck. */
  readonly struck: number;
  /**
   * Strikes the next commit of a transaction that carried this text. Further ones on other
   * connections are let through.
   * @param closes whether the proxy closes at the same moment, as by `setOpen(false)`
   */
  strikeNext(marker: string, what: Strike, closes?: boolean): void;
  /** While it is closed, open connections are cut and new ones refused. */
  setOpen(isOpen: boolean): void;
  /** Once this text is sent, connections stay open, and nothing passes in either direction. */
  muteAt(marker: string): void;
  readonly isMuted: boolean;
  /** Cuts a connection right after the server's next ReadyForQuery outside a transaction. */
  cutNextReady(): void;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('COMMIT\0');
/** ReadyForQuery, outside a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I');

export async function startCommitProxy(serverUrl: string): Promise<CommitProxy> {
  const target = new URL(serverUrl);
  const clients = new Set<Socket>();
  let armed: { marker: string; what: Strike; closes: boolean } | null = null;
  let mutedAt: string | null = null;
  let struck = 0;
  let isOpen = true;
  let isMuted = false;
  let cutsReady = false;
  const setOpen = (open: boolean) => {
    isOpen = open;
    if (!open) for (const client of clients) client.resetAndDestroy();
  };

  const server = createServer({ noDelay: true }, (client) => {
    if (!isOpen) return void client.resetAndDestroy();
    clients.add(client);
    const backend = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let sent = Buffer.alloc(0);
    let swallowed: Buffer | null = null;
    let closes = false;
    const end = () => {
      clients.delete(client);
      client.destroy();
      backend.destroy();
    };
    const strike = () => {
      struck += 1;
      client.resetAndDestroy();
      backend.destroy();
      if (closes) setOpen(false);
    };
    client.on('data', (bytes: Buffer) => {
      isMuted ||= mutedAt !== null && bytes.includes(mutedAt);
      if (isMuted) return;
      sent = Buffer.concat([sent, bytes]);
      const isCommit = bytes.includes(COMMIT);
      if (armed !== null && isCommit && sent.includes(armed.marker)) {
        const { what } = armed;
        ({ closes } = armed);
        armed = null;
        if (what === 'request') return strike();
        swallowed = Buffer.alloc(0);
      }
      if (isCommit) sent = Buffer.alloc(0);
      backend.write(bytes);
    });
    backend.on('data', (bytes: Buffer) => {
      if (isMuted) return;
      if (swallowed === null) {
        client.write(bytes);
        if (!cutsReady || !bytes.includes(READY)) return;
        cutsReady = false;
        return void client.resetAndDestroy();
      }
      swallowed = Buffer.concat([swallowed, bytes]);
      // Answers to earlier statements come first; this one says that the server has committed.
      if (swallowed.includes(COMMIT)) strike();
    });
    for (const socket of [client, backend]) socket.on('error', end).on('close', end);
  });
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(tracked.port);
  return {
    url: url.href,
    get struck() {
      return struck;
    },
    get isMuted() {
      return isMuted;
    },
    strikeNext(marker, what, closes = false) {
      armed = { marker, what, closes };
    },
    muteAt(marker) {
      mutedAt = marker;
    },
    cutNextReady() {
      cutsReady = true;
    },
    setOpen,
    close: tracked.close,
  };
}
