// A private certificate authority, and real https servers with its certificates. Nothing leaves
// this machine.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { generate, type SubjectAltNameEntry } from 'selfsigned';
import { listenTracked, type TrackedServer } from './trackedServer.ts';

/** A key and its certificate, as PEM. */
export interface KeyPair {
  key: string;
  cert: string;
}

interface CertificateOptions {
  dnsNames?: string[];
  ips?: string[];
  notBefore?: Date;
  notAfter?: Date;
}

interface TestCa {
  /** PEM of the authority's certificate. */
  ca: string;
  /** A certificate for localhost, 127.0.0.1 and ::1. */
  server: KeyPair;
  issue(options?: CertificateOptions): Promise<KeyPair>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const daysFromNow = (days: number) => new Date(Date.now() + days * DAY_MS);

const makeAuthority = async (): Promise<KeyPair> => {
  // Two authorities of one name would be taken for each other.
  const name = `Conversation Service test CA ${randomUUID()}`;
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: daysFromNow(-30),
    notAfterDate: daysFromNow(365),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { key, cert };
};

/** Makes a certificate authority and a server certificate, in memory. */
export const makeTestCa = async (): Promise<TestCa> => {
  const authority = await makeAuthority();

  const issue = async ({
    dnsNames = ['localhost'],
    ips = ['127.0.0.1', '::1'],
    notBefore = daysFromNow(-1),
    notAfter = daysFromNow(90),
  }: CertificateOptions = {}): Promise<KeyPair> => {
    const altNames: SubjectAltNameEntry[] = [
      ...dnsNames.map((value) => ({ type: 2 as const, value })),
      ...ips.map((ip) => ({ type: 7 as const, ip })),
    ];
    const { private: key, cert } = await generate(
      [{ name: 'commonName', value: dnsNames[0] ?? ips[0] ?? 'test' }],
      {
        keyType: 'ec',
        algorithm: 'sha256',
        notBeforeDate: notBefore,
        notAfterDate: notAfter,
        ca: authority,
        extensions: [
          { name: 'basicConstraints', cA: false, critical: true },
          { name: 'keyUsage', digitalSignature: true, critical: true },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames },
        ],
      },
    );
    return { key, cert };
  };

  return { ca: authority.cert, server: await issue(), issue };
};

/** On globalThis, since each suite has a copy of this file. */
const ofProcess = globalThis as { sharedTestCa?: Promise<TestCa> };

/** The authority that every test of this process shares. */
export const sharedTestCa = (): Promise<TestCa> => (ofProcess.sharedTestCa ??= makeTestCa());

/**
 * Files for processes that read their certificates from disk (NODE_EXTRA_CA_CERTS, N8N_SSL_CERT,
 * N8N_SSL_KEY).
 */
export interface TlsFiles {
  folder: string;
  caFile: string;
  certFile: string;
  keyFile: string;
  remove(): Promise<void>;
}

/** Writes an authority and its server certificate into a temporary folder. */
export const writeTlsFiles = async ({ ca, server }: TestCa): Promise<TlsFiles> => {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-tls-'));
  const files = {
    caFile: join(folder, 'ca.pem'),
    certFile: join(folder, 'cert.pem'),
    keyFile: join(folder, 'key.pem'),
  };
  await writeFile(files.caFile, ca);
  await writeFile(files.certFile, server.cert);
  await writeFile(files.keyFile, server.key, { mode: 0o600 });
  return { folder, ...files, remove: () => rm(folder, { recursive: true, force: true }) };
};

/** A request as it arrived. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
  receivedAt: Date;
}

/** Answers a request whose body has been read already. */
export type ReceiverHandler = (
  received: ReceivedRequest,
  res: ServerResponse,
  req: IncomingMessage,
) => void;

export interface TlsReceiver extends TrackedServer {
  /** `https://localhost:<port>`, without a slash at the end. */
  url: string;
  /** PEM of the authority to trust. */
  ca: string;
  requests: ReceivedRequest[];
}

interface TlsReceiverOptions {
  /** Another certificate than the shared authority's for localhost. */
  certificate?: KeyPair;
  host?: string;
  port?: number;
}

const answerOk: ReceiverHandler = (_received, res) => {
  res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
};

/**
 * Starts an https server on a free port that records what it receives; answers 200 unless told
 * otherwise.
 */
export const startTlsReceiver = async (
  handler: ReceiverHandler = answerOk,
  { certificate, host = '127.0.0.1', port: wantedPort = 0 }: TlsReceiverOptions = {},
): Promise<TlsReceiver> => {
  const testCa = await sharedTestCa();
  const requests: ReceivedRequest[] = [];
  const listener: RequestListener = (req, res) => {
    buffer(req).then(
      (rawBody) => {
        const received: ReceivedRequest = {
          method: req.method ?? '',
          path: req.url ?? '',
          headers: req.headers,
          rawBody,
          receivedAt: new Date(),
        };
        requests.push(received);
        handler(received, res, req);
      },
      () => res.destroy(), // the caller hung up while sending
    );
  };

  const server = createServer(certificate ?? testCa.server, listener);
  const tracked = await listenTracked(server, wantedPort, host);
  return Object.assign(tracked, {
    url: `https://localhost:${tracked.port}`,
    ca: testCa.ca,
    requests,
  });
};
