import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startTlsReceiver, type TlsReceiver } from '../../../helpers/tls.ts';
import {
  closing,
  delivery,
  failureOf,
  kindOf,
  localClient,
  refusalOf,
  startRawTlsServer,
} from './support.ts';

const { add, closeAll } = closing();
let receiver: TlsReceiver;
beforeEach(async () => {
  receiver = add(await startTlsReceiver());
});
afterEach(closeAll);

/** A resolver that knows some names; what it does not know does not exist. */
const names = (known: Record<string, string[]>) => async (hostname: string) => {
  const addresses = known[hostname];
  if (!addresses) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  return addresses;
};

const LOOPBACK_SPELLINGS = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.01',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
];

describe('every spelling of this machine is refused', () => {
  it.each(LOOPBACK_SPELLINGS)('%s', async (host) => {
    const resolver = names({ localhost: ['127.0.0.1', '::1'], 'localhost.': ['127.0.0.1', '::1'] });
    const client = add(await localClient({ allowedNetworks: [], resolver }));
    const url = `https://${host}:${receiver.port}/`;
    expect(await refusalOf(client, url)).toBe('blocked_address');
    expect(receiver.acceptedSockets).toBe(0);
  });
});

describe('the outbound client', () => {
  it.each([
    ['http://example.com/', 'not_https'],
    ['HTTP://example.com/', 'not_https'],
    ['ftp://example.com/', 'not_https'],
    ['file:///etc/passwd', 'not_https'],
    ['data:text/plain,x', 'not_https'],
    ['example.com', 'invalid_url'],
    ['', 'invalid_url'],
    ['https://', 'invalid_url'],
    ['https://exa mple.com/', 'invalid_url'],
    ['https://256.256.256.256/', 'invalid_url'],
    ['https://example.com:99999/', 'invalid_url'],
    ['https://example.com:0/', 'invalid_url'],
    ['https://user@example.com/', 'invalid_url'],
    ['https://user:secret@example.com/', 'invalid_url'],
    ['https://nowhere.example/', 'unresolvable'],
    ['https://empty.example/', 'unresolvable'],
  ])('refuses %s as %s', async (url, kind) => {
    const client = add(await localClient({ resolver: names({ 'empty.example': [] }) }));
    expect(await refusalOf(client, url)).toBe(kind);
  });

  it('accepts an international name that leads to public addresses', async () => {
    const resolver = names({ 'xn--bcher-kva.example': ['1.1.1.1', '2606:4700::1'] });
    const client = add(await localClient({ resolver }));
    await client.checkTarget('https://bücher.example/hook?x=1', 'ws_test');
  });

  it('repeats neither path nor query of the address in a message', async () => {
    const client = add(await localClient({ allowedNetworks: [] }));
    const { message } = await failureOf(
      client.checkTarget('https://localhost/hidden-path?token=hidden-query', 'ws_test'),
    );
    expect(message).toBe('localhost may not be called: its name leads to a loopback address.');
  });

  it('refuses a Host header of the caller', async () => {
    const client = add(await localClient());
    const call = delivery(receiver.url, { headers: { HOST: 'internal' } });
    expect(await kindOf(client.request(call))).toBe('invalid_request');
    expect(receiver.acceptedSockets).toBe(0);
  });
});

describe('names', () => {
  it.each([
    ['1.1.1.1', '10.0.0.1'],
    ['10.0.0.1', '1.1.1.1'],
    ['2606:4700::1', '::ffff:192.168.0.1'],
    ['1.1.1.1', '169.254.169.254'],
    ['1.1.1.1', 'fe80::1%eth0'],
    ['1.1.1.1', 'garbage'],
  ])('with the addresses %s and %s are refused as a whole', async (...addresses) => {
    const client = add(await localClient({ resolver: names({ 'mixed.example': addresses }) }));
    expect(await refusalOf(client, 'https://mixed.example/')).toBe('blocked_address');
  });

  it('share one look-up while it is under way', async () => {
    let asked = 0;
    const resolver = async () => {
      asked += 1;
      return ['127.0.0.1'];
    };
    const client = add(await localClient({ resolver }));
    await Promise.all(Array.from({ length: 8 }, () => client.request(delivery(receiver.url))));
    expect(asked).toBe(1);
  });

  it('reach the next address when the first one refuses the connection', async () => {
    const client = add(await localClient({ resolver: async () => ['127.0.0.2', '127.0.0.1'] }));
    expect((await client.request(delivery(receiver.url))).status).toBe(200);
  });

  it('with a dot at the end are resolved with the dot, and sent to TLS without it', async () => {
    const serverNames: unknown[] = [];
    const server = add(
      await startRawTlsServer((socket) => {
        serverNames.push(socket.servername);
        socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      }),
    );
    const client = add(await localClient({ resolver: names({ 'localhost.': ['127.0.0.1'] }) }));
    expect((await client.request(delivery(`https://localhost.:${server.port}/`))).status).toBe(204);
    expect(serverNames).toEqual(['localhost']);
  });
});

describe('where a refused name leads', () => {
  it.each([
    '10.1.2.3',
    '192.168.7.9',
    '169.254.169.254',
    '::ffff:10.1.2.3',
    '64:ff9b::a01:203',
    '2002:a01:203::1',
    'fd00::12:34',
    '127.0.0.9',
  ])('is not told to those who named it, but to the log: %s', async (address) => {
    const told: unknown[] = [];
    const client = add(
      await localClient({
        allowedNetworks: [],
        resolver: async () => ['1.1.1.1', address],
        log: { info: (about: unknown) => void told.push(about) } as never,
      }),
    );
    for (const call of [
      client.checkTarget('https://inner.example/', 'ws_test'),
      client.request(delivery('https://inner.example/')),
    ]) {
      const failure = await failureOf(call);
      expect(failure.kind).toBe('blocked_address');
      expect(failure.message).toMatch(
        /^inner\.example may not be called: its name leads to a[^0-9]*\.$/,
      );
      expect(`${failure.message} ${failure.advice}`).not.toMatch(/\d/);
    }
    expect(told).toEqual(
      Array(2).fill({ host: 'inner.example', address, reason: expect.any(String) }),
    );
  });

  it('is not told either when a public name is refused for http://', async () => {
    const resolver = async () => ['1.1.1.1'];
    const client = add(await localClient({ insecureTargets: true, resolver }));
    const failure = await failureOf(client.checkTarget('http://outer.example/', 'ws_test'));
    expect(failure.message).toBe(
      'outer.example must be called over https://; http:// is for addresses in ALLOWED_NETWORKS only.',
    );
  });

  it('is told when the URL itself holds the address, with the IPv4 address inside it', async () => {
    const client = add(await localClient({ allowedNetworks: [] }));
    const failure = await failureOf(client.checkTarget('https://[64:ff9b::a01:203]/', 'ws_test'));
    expect(failure.message).toBe(
      '64:ff9b::a01:203 may not be called: it is NAT64 for 10.1.2.3, a private address.',
    );
  });
});

describe('IP literals that ALLOWED_NETWORKS opens', () => {
  it('are called: 127.0.0.1 in 127.0.0.0/8', async () => {
    const client = add(await localClient());
    const { status } = await client.request(delivery(`https://127.0.0.1:${receiver.port}/`));
    expect(status).toBe(200);
    expect(receiver.requests[0]?.headers.host).toBe(`127.0.0.1:${receiver.port}`);
  });

  it('are called: ::1, which 127.0.0.0/8 opens too', async () => {
    const onIpv6 = add(await startTlsReceiver(undefined, { host: '::1' }));
    const client = add(await localClient());
    expect((await client.request(delivery(`https://[::1]:${onIpv6.port}/`))).status).toBe(200);
  });
});
