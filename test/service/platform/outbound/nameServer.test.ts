// Names looked up with real DNS packets, at a name server that may change its mind, through the
// real connector.
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { startDnsServer, type DnsServer, type Records } from '../../../helpers/dnsServer.ts';
import { sharedTestCa, startTlsReceiver } from '../../../helpers/tls.ts';
import { closing, delivery, failureOf, localClient, refusalOf, toolCall } from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

const clientOf = async (server: DnsServer, allowedNetworks: string[] = []) =>
  add(
    await localClient({
      allowedNetworks,
      connectionsPerOrigin: 1,
      resolver: (name) => server.resolve(name),
    }),
  );

/** A name server of fixed records. */
const fixed = async (zone: Record<string, Records>) =>
  add(await startDnsServer((name) => zone[name]));

/** A name server that gives one answer to each look-up (A and AAAA), and then repeats the last. */
const changing = async (...answers: Records[]) => {
  let asked = 0;
  return add(
    await startDnsServer(() => answers[Math.min(answers.length - 1, Math.floor(asked++ / 2))]),
  );
};

/** A call that follows redirects. */
const following = (url: string) =>
  toolCall(url, { method: 'GET', body: undefined, maxRedirects: 5 });

const PUBLIC = ['1.1.1.1', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001::5'];
const CLOSED = [
  '10.0.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '192.168.1.1',
  '::1',
  'fd00::1',
  'fe80::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  'fd00:ec2::254',
];

describe('what a name server answers', () => {
  it('is refused as soon as one record of any family, at the end of any chain of names, is closed', async () => {
    let zone: Record<string, Records> = {};
    const server = add(await startDnsServer((name) => zone[name]));
    const client = await clientOf(server);
    const publics = fc.array(fc.constantFrom(...PUBLIC), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        publics,
        fc.constantFrom(...CLOSED),
        publics,
        fc.integer({ min: 0, max: 3 }),
        async (before, bad, after, links) => {
          zone = { [`link${links}.example`]: [...before, bad, ...after] };
          for (let n = 0; n < links; n += 1) zone[`link${n}.example`] = [`link${n + 1}.example`];
          expect(await refusalOf(client, 'https://link0.example/')).toBe('blocked_address');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is accepted when every record is public', async () => {
    let zone: Record<string, Records> = {};
    const server = add(await startDnsServer((name) => zone[name]));
    const client = await clientOf(server);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...PUBLIC), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (records, isAlias) => {
          zone = isAlias
            ? { 'shop.example': ['real.example'], 'real.example': records }
            : { 'shop.example': records };
          await client.checkTarget('https://shop.example/', 'ws_test');
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each<[string, Record<string, Records>, string]>([
    ['the name has no address', { 'odd.example': [] }, 'it has no address'],
    ['a chain leads nowhere', { 'odd.example': ['gone.example'] }, 'it has no address'],
    ['there is no such name', {}, 'there is no such name'],
  ])('is unresolvable when %s', async (_what, zone, reason) => {
    const client = await clientOf(await fixed(zone));
    const failure = await failureOf(client.request(delivery('https://odd.example/')));
    expect(failure.kind).toBe('unresolvable');
    expect(failure.message).toBe(`The name odd.example could not be resolved: ${reason}.`);
  });

  it('may not lead from a public answer at the check to a private one at the connection', async () => {
    const receiver = add(await startTlsReceiver());
    const server = await changing(['1.1.1.1'], ['127.0.0.1']);
    const client = await clientOf(server);
    const url = `https://rebind.example:${receiver.port}/`;
    await client.checkTarget(url, 'ws_test');
    const failure = await failureOf(client.request(delivery(url)));
    expect(failure.kind).toBe('blocked_address');
    expect(failure.message).toBe(
      'rebind.example may not be called: its name leads to a loopback address.',
    );
    expect(receiver.acceptedSockets).toBe(0);
  });

  it('is asked for once for each connection, so that nothing can change between check and dial', async () => {
    const certificate = await (await sharedTestCa()).issue({ dnsNames: ['shop.example'] });
    const receiver = add(await startTlsReceiver(undefined, { certificate }));
    const server = await changing(['127.0.0.1'], ['169.254.169.254']);
    const client = await clientOf(server, ['127.0.0.0/8']);
    const url = `https://shop.example:${receiver.port}/`;
    for (let sent = 0; sent < 3; sent += 1)
      expect((await client.request(delivery(url))).status).toBe(200);
    expect(server.questions).toEqual(['shop.example', 'shop.example']); // A and AAAA
    expect(receiver.acceptedSockets).toBe(1);
  });

  it('is asked for again at a redirect to the same name, and what it says then counts', async () => {
    const certificate = await (await sharedTestCa()).issue({ dnsNames: ['shop.example'] });
    const inner = add(await startTlsReceiver(undefined, { certificate, host: '127.0.0.2' }));
    const outer = add(
      await startTlsReceiver(
        (_request, response) =>
          response.writeHead(302, { location: `https://shop.example:${inner.port}/inner` }).end(),
        { certificate },
      ),
    );
    const server = await changing(['127.0.0.1'], ['127.0.0.2']);
    const client = await clientOf(server, ['127.0.0.1/32']);
    const url = `https://shop.example:${outer.port}/`;
    const failure = await failureOf(client.request(following(url)));
    expect(failure.kind).toBe('blocked_address');
    expect(failure.message).toBe(
      `After a redirect from shop.example:${outer.port}: shop.example may not be called: its name leads to a loopback address.`,
    );
    expect([outer.requests.length, inner.acceptedSockets]).toEqual([1, 0]);
  });

  it.each(['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '100.96.0.96', '100.80.80.80'])(
    'may not lead a redirect to metadata (%s), whatever is opened',
    async (metadata) => {
      const receiver = add(
        await startTlsReceiver((_request, response) =>
          response.writeHead(307, { location: 'https://innocent.example/latest/meta-data/' }).end(),
        ),
      );
      const server = await fixed({ localhost: ['127.0.0.1'], 'innocent.example': [metadata] });
      const client = await clientOf(server, ['0.0.0.0/0', '::/0']);
      const failure = await failureOf(client.request(following(receiver.url)));
      expect(failure.kind).toBe('blocked_address');
      expect(failure.message).toContain('a cloud metadata address, which is never called');
    },
  );
});
