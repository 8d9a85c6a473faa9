import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/**
 * A listening server that knows its sockets, so that it can be closed at once and looked at for
 * leaks.
 */
export interface TrackedServer {
  readonly port: number;
  /** Sockets that are open now, and how many there have been. */
  readonly openSockets: number;
  readonly acceptedSockets: number;
  /** Ends every socket too. */
  close(): Promise<void>;
}

export async function listenTracked(
  server: Server,
  port: number,
  host: string,
): Promise<TrackedServer> {
  const sockets = new Set<Socket>();
  let acceptedSockets = 0;
  server.on('connection', (socket: Socket) => {
    acceptedSockets += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get openSockets() {
      return sockets.size;
    },
    get acceptedSockets() {
      return acceptedSockets;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
