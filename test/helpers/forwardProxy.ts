// An HTTP proxy as companies run one: it tunnels CONNECT, forwards absolute addresses, and records
// which hosts it was asked for.
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { listenTracked, type TrackedServer } from './trackedServer.ts';

export interface ForwardProxy extends TrackedServer {
  url: string;
  /** `host:port` of each request that came to it, tunnels included. */
  readonly asked: readonly string[];
  /** Forgets them. */
  forget(): void;
}

export async function startForwardProxy(): Promise<ForwardProxy> {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    const url = URL.parse(incoming.url ?? '');
    asked.push(url?.host ?? `not an absolute address: ${incoming.url}`);
    if (!url) return void response.writeHead(400).end();
    const onward = request(
      url,
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    asked.push(incoming.url ?? '');
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const onward = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
  });
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  return Object.assign(tracked, {
    url: `http://127.0.0.1:${tracked.port}`,
    asked,
    forget: () => void asked.splice(0),
  });
}
