// A name server on this machine that speaks real DNS packets (RFC 1035), and a resolver that asks
// it alone.
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** What a name leads to: addresses of both families, or another name, as CNAME. */
export type Records = readonly string[];

/** For a name whose name server is dead: it never answers. */
export const SILENCE = Symbol('silence');

export interface DnsServer {
  /** Names that were asked for, once for each family. */
  readonly questions: readonly string[];
  /**
   * All addresses of a name, of both families; rejects when there is none, as the system's resolver
   * does.
   */
  resolve(name: string): Promise<string[]>;
  close(): Promise<void>;
}

const TYPE = { A: 1, CNAME: 5, AAAA: 28 } as const;
const NO_SUCH_NAME = 3;

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name
      .split('.')
      .filter(Boolean)
      .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

const encodeIpv6 = (address: string): Buffer => {
  const [head = '', tail = ''] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => parseInt(group, 16));
  const [before, after] = [groups(head), groups(tail)];
  const bytes = Buffer.alloc(16);
  before.forEach((group, n) => bytes.writeUInt16BE(group, 2 * n));
  after.forEach((group, n) => bytes.writeUInt16BE(group, 16 - 2 * (after.length - n)));
  return bytes;
};

const encodeRecord = (owner: string, type: number, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10); // type, class, a lifetime of zero, the data's length
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(owner), fixed, data]);
};

/** The answer to one question: CNAMEs are followed, as a recursive server does. */
function answersTo(
  name: string,
  type: number,
  zone: (name: string) => Records | undefined,
): Buffer[] | null {
  const records = zone(name);
  if (!records) return null;
  return records.flatMap((record) => {
    const family = isIP(record);
    if (family === 0)
      return [
        encodeRecord(name, TYPE.CNAME, encodeName(record)),
        ...(answersTo(record, type, zone) ?? []),
      ];
    if (family === 4)
      return type === TYPE.A
        ? [encodeRecord(name, type, Buffer.from(record.split('.').map(Number)))]
        : [];
    return type === TYPE.AAAA ? [encodeRecord(name, type, encodeIpv6(record))] : [];
  });
}

function readQuestion(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at]!; length > 0; length = packet[at]!) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

/**
 * @param zone what a name leads to; undefined when there is no such name. Asked again for each
 * question.
 * @param at where it listens; 53 is the port that systems ask
 */
export async function startDnsServer(
  zone: (name: string) => Records | typeof SILENCE | undefined,
  at: { readonly host?: string; readonly port?: number } = {},
): Promise<DnsServer> {
  const { host = '127.0.0.1', port: wantedPort = 0 } = at;
  const known = (name: string) => {
    const records = zone(name);
    return records === SILENCE ? undefined : records;
  };
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (packet, { port, address }) => {
    const { name, type, end } = readQuestion(packet);
    questions.push(name);
    if (zone(name) === SILENCE) return;
    const answers = answersTo(name, type, known);
    const header = Buffer.alloc(12);
    packet.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (answers ? 0 : NO_SUCH_NAME), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers?.length ?? 0, 6);
    socket.send(
      Buffer.concat([header, packet.subarray(12, end), ...(answers ?? [])]),
      port,
      address,
    );
  });
  socket.bind(wantedPort, host);
  await once(socket, 'listening');
  const resolver = new Resolver();
  resolver.setServers([`${host}:${socket.address().port}`]);
  return {
    questions,
    async resolve(name) {
      const [four, six] = await Promise.allSettled([
        resolver.resolve4(name),
        resolver.resolve6(name),
      ]);
      const addresses = [four, six].flatMap((each) =>
        each.status === 'fulfilled' ? each.value : [],
      );
      if (addresses.length === 0) throw (four as PromiseRejectedResult).reason;
      return addresses;
    },
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
