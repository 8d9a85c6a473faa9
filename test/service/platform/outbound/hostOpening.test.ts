// One host and port opened at private addresses: what that opens, and everything it leaves closed.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openHost } from '../../../../service/src/platform/outbound/hostOpening.ts';
import type { OutboundClient } from '../../../../service/src/platform/outbound/outboundClient.ts';
import { startTlsReceiver } from '../../../helpers/tls.ts';
import type { TrackedServer } from '../../../helpers/trackedServer.ts';
import { BITS, CLOSED, EMBEDDINGS, METADATA, ipv6, within, write } from './publicOracle.ts';
import { closing, delivery, kindOf, localClient, refusalOf, startHttp } from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

const closedClient = async (addresses: Record<string, readonly string[]> = {}) =>
  add(
    await localClient({
      allowedNetworks: [],
      resolver: async (name) => addresses[name] ?? ['127.0.0.1'],
    }),
  );

const outcomeOf = (client: OutboundClient, url: string) =>
  client.checkTarget(url, 'ws_test').then(
    () => 'open',
    (error: { kind: string }) => error.kind,
  );

describe('an n8n on this machine', () => {
  let client: OutboundClient;
  let n8n: TrackedServer;
  beforeEach(async () => {
    n8n = add(await startHttp());
    client = await closedClient({ localhost: ['127.0.0.1', '::1'] });
  });

  const statusOf = async (url: string) => (await client.request(delivery(url))).status;

  it('is reached over http under each name of the machine, at its port alone', async () => {
    const other = add(await startHttp());
    client.open(`http://localhost:${n8n.port}`);
    for (const host of ['localhost', '127.0.0.1', '127.1', '2130706433', 'LOCALHOST'])
      expect(await statusOf(`http://${host}:${n8n.port}/webhook/x`)).toBe(200);
    for (const host of ['[::1]', '[0:0:0:0:0:0:0:1]'])
      expect(await outcomeOf(client, `http://${host}:${n8n.port}/webhook/x`)).toBe('open');
    expect(await outcomeOf(client, `https://localhost:${n8n.port}/webhook/x`)).toBe('open');
    for (const host of ['localhost', '127.0.0.1']) {
      expect(await refusalOf(client, `http://${host}:${other.port}/`)).toBe('not_https');
      expect(await refusalOf(client, `https://${host}:${other.port}/`)).toBe('blocked_address');
    }
    expect(other.acceptedSockets).toBe(0);
  });

  it.each([
    '127.0.0.2',
    '0.0.0.0',
    '0',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    'n8n.localhost',
    'localhost.example.com',
    'localhost.',
    '10.0.0.1',
    '169.254.169.254',
  ])('leaves %s closed at the same port', async (host) => {
    client.open(`http://localhost:${n8n.port}`);
    for (const scheme of ['http', 'https'])
      expect(await outcomeOf(client, `${scheme}://${host}:${n8n.port}/`)).toMatch(
        /^(not_https|blocked_address)$/,
      );
    expect(n8n.acceptedSockets).toBe(0);
  });

  it('is only on loopback, whatever a name server says of localhost', async () => {
    for (const address of ['10.0.0.1', '169.254.169.254', '127.0.0.2', 'fe80::1']) {
      const fooled = await closedClient({ localhost: ['127.0.0.1', address] });
      fooled.open('http://localhost:5678');
      expect([address, await outcomeOf(fooled, 'http://localhost:5678/')]).toEqual([
        address,
        'blocked_address',
      ]);
    }
  });

  it('opens nothing when its address is null, and no http to public addresses', async () => {
    client.open(null);
    expect(await outcomeOf(client, `http://localhost:${n8n.port}/`)).toBe('not_https');
    client.open(`http://localhost:${n8n.port}`);
    expect(await outcomeOf(client, 'http://1.1.1.1/')).toBe('not_https');
    expect(await outcomeOf(client, `http://1.1.1.1:${n8n.port}/`)).toBe('not_https');
  });
});

describe('an n8n in a private network', () => {
  it('is called by its own name or address, at its port, in its scheme', async () => {
    const client = await closedClient({ 'n8n.lan': ['10.0.0.5'], 'other.lan': ['10.0.0.5'] });
    client.open('http://n8n.lan:5678');
    expect(await outcomeOf(client, 'http://n8n.lan:5678/webhook/x')).toBe('open');
    expect(await outcomeOf(client, 'https://n8n.lan:5678/webhook/x')).toBe('open');
    expect(await outcomeOf(client, 'http://n8n.lan/webhook/x')).toBe('not_https');
    expect(await outcomeOf(client, 'https://n8n.lan/webhook/x')).toBe('blocked_address');
    expect(await outcomeOf(client, 'https://other.lan:5678/')).toBe('blocked_address');
    expect(await outcomeOf(client, 'https://10.0.0.5:5678/')).toBe('blocked_address');
    client.open('https://n8n.lan');
    expect(await outcomeOf(client, 'https://n8n.lan:443/webhook/x')).toBe('open');
    expect(await outcomeOf(client, 'http://n8n.lan:443/webhook/x')).toBe('not_https');
    expect(await outcomeOf(client, 'http://n8n.lan/webhook/x')).toBe('not_https');
  });

  it('cannot be at an address that stays closed', async () => {
    const addresses = {
      'metadata.lan': ['169.254.169.254'],
      'link.lan': ['fe80::1'],
      'mixed.lan': ['10.0.0.5', '169.254.1.1'],
      'public.lan': ['10.0.0.5', '1.1.1.1'],
    };
    const client = await closedClient(addresses);
    const checked = (origin: string) => kindOf(client.checkOpening(origin));
    expect(await checked('http://metadata.lan:80')).toBe('blocked_address');
    expect(await checked('http://link.lan:5678')).toBe('blocked_address');
    expect(await checked('http://mixed.lan:5678')).toBe('blocked_address');
    expect(await checked('http://public.lan:5678')).toBe('not_https');
    expect(await checked('http://169.254.169.254')).toBe('blocked_address');
    expect(await checked('http://[fd00:ec2::254]')).toBe('blocked_address');
    expect(await checked('http://0.0.0.0:5678')).toBe('blocked_address');
    await client.checkOpening('http://192.168.1.20:5678');
    // Checking opens nothing.
    expect(await outcomeOf(client, 'http://192.168.1.20:5678/')).toBe('not_https');
  });

  it('is not reached by a redirect to another port of the same machine', async () => {
    const inside = add(await startHttp());
    const outside = add(
      await startTlsReceiver((_request, response) =>
        response.writeHead(302, { location: `https://localhost:${inside.port}/` }).end(),
      ),
    );
    const client = await closedClient();
    client.open(`http://localhost:${outside.port}`);
    const call = delivery(outside.url, { method: 'GET', body: undefined, maxRedirects: 3 });
    expect(await kindOf(client.request(call))).toBe('blocked_address');
    expect(inside.acceptedSockets).toBe(0);
  });
});

describe('a change of the opened host', () => {
  it.each([
    ['is obeyed before anything is dialled', { allowedNetworks: [] }, 'blocked_address'],
    ['does not let http through that ALLOWED_NETWORKS opens for https', {}, 'not_https'],
  ])('while a name is looked up %s', async (_what, options, refusal) => {
    const n8n = add(await startHttp());
    const lookedUp = Promise.withResolvers<undefined>();
    const goOn = Promise.withResolvers<undefined>();
    const client = add(
      await localClient({
        ...options,
        resolver: async () => {
          lookedUp.resolve(undefined);
          await goOn.promise;
          return ['127.0.0.1'];
        },
      }),
    );
    client.open(`http://localhost:${n8n.port}`);
    const kind = kindOf(client.request(delivery(`http://localhost:${n8n.port}/`)));
    await lookedUp.promise;
    client.open(null);
    goOn.resolve(undefined);
    expect(await kind).toBe(refusal);
    expect(n8n.acceptedSockets).toBe(0);
  });

  it('closes the connections that were kept, and running requests end', async () => {
    const held = Promise.withResolvers<undefined>();
    const receiver = add(
      await startTlsReceiver(({ path }, response) => {
        if (path === '/held') void held.promise.then(() => response.end('ok'));
        else response.end('ok');
      }),
    );
    const client = await closedClient();
    client.open(`http://localhost:${receiver.port}`);
    const url = `https://localhost:${receiver.port}`;
    const running = client.request(delivery(`${url}/held`));
    await client.request(delivery(`${url}/`));
    client.open(null);
    expect(await kindOf(client.request(delivery(`${url}/`)))).toBe('blocked_address');
    held.resolve(undefined);
    expect((await running).status).toBe(200);
    expect(receiver.requests).toHaveLength(2);
  });

  it('to the same address keeps the connections', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient({ allowedNetworks: [], connectionsPerOrigin: 1 }));
    for (let round = 0; round < 3; round += 1) {
      client.open(`http://localhost:${receiver.port}`);
      await client.request(delivery(`https://localhost:${receiver.port}/`));
    }
    expect(receiver.acceptedSockets).toBe(1);
  });

  it('again and again, among requests, never lets a request through to a closed host', async () => {
    const first = add(await startHttp());
    const second = add(await startHttp());
    const client = await closedClient();
    const ask = (server: TrackedServer) =>
      client.request(delivery(`http://localhost:${server.port}/`)).then(
        ({ status }) => status,
        ({ kind }: { kind: string }) => kind,
      );
    for (let round = 0; round < 100; round += 1) {
      const [open, closed] = round % 2 === 0 ? [first, second] : [second, first];
      client.open(`http://localhost:${open.port}`);
      const sockets = closed.acceptedSockets;
      expect(await Promise.all([ask(open), ask(closed)])).toEqual([200, 'not_https']);
      expect(closed.acceptedSockets).toBe(sockets);
    }
  });
});

describe('the addresses that an opened name may have', () => {
  const MAY_OPEN = new Set([
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    '127.0.0.0/8',
    'fc00::/7',
    '::1/128',
  ]);
  const opened = openHost(new URL('http://n8n.lan:5678'));
  const isOpened = (text: string) => {
    const verdict = opened.judge(text);
    return verdict.allowed && verdict.opened;
  };
  const shut = CLOSED.filter(({ name }) => !MAY_OPEN.has(name));

  it.each(CLOSED)('at both edges of $name', ({ name, family, first, last }) => {
    for (const value of [first, last]) {
      const text = write({ family, value });
      expect({ text, isOpened: isOpened(text) }).toEqual({ text, isOpened: MAY_OPEN.has(name) });
    }
  });

  it('are none of the other special ranges, in any spelling or zone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...shut).chain(within),
        fc.constantFrom('', '%eth0', '%br-lan'),
        (address, zone) => {
          const text = write(address) + (address.family === 6 ? zone : '');
          expect({ text, isOpened: isOpened(text) }).toEqual({ text, isOpened: false });
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it.each([4, 6] as const)(
    'are never public IPv%i addresses: those are called over https',
    (family) => {
      const special = CLOSED.filter((range) => range.family === family);
      const isSpecial = (value: bigint) =>
        special.some(({ first, last }) => first <= value && value <= last);
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: (1n << BITS[family]) - 1n }), (value) => {
          fc.pre(!isSpecial(value));
          expect(isOpened(write({ family, value }))).toBe(false);
        }),
        { numRuns: 2_000 },
      );
    },
  );

  it.each(EMBEDDINGS)('are no metadata and no link-local address hidden as $name', ({ embed }) => {
    for (const value of [...METADATA, 0xa9fe0101n, 0n, 0xe0000001n]) {
      const text = write(ipv6(embed(value)));
      expect({ text, isOpened: isOpened(text) }).toEqual({ text, isOpened: false });
      if (value === 0n) continue; // spelled like other addresses
      expect({ text, allowed: opened.judge(text).allowed }).toEqual({ text, allowed: false });
    }
  });

  it('are never metadata addresses within private ranges', () => {
    for (const text of ['100.100.100.200', '100.80.80.80', 'fd00:ec2::254', 'fd20:ce::254'])
      expect(opened.judge(text).allowed).toBe(false);
  });
});
