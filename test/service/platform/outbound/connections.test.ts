import { afterEach, describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import type { OutboundRequest } from '../../../../service/src/platform/outbound/outboundClient.ts';
import { sharedTestCa, startTlsReceiver, writeTlsFiles } from '../../../helpers/tls.ts';
import {
  CLIENT_MODULE,
  closing,
  delivery,
  kindOf,
  localClient,
  refusalOf,
  runAlone,
  startHttp,
  startRawTlsServer,
  startTcpServer,
  toolCall,
  until,
} from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

describe('a request', () => {
  it('arrives byte by byte, with its headers and nothing the caller did not ask for', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient());
    const body = Buffer.from('{"text":"Grüße 👋"}');
    const response = await client.request(
      delivery(`${receiver.url}/hook?x=a%20b#part`, {
        body,
        headers: { 'X-Service-Event': 'message.sent' },
      }),
    );
    expect(response).toMatchObject({
      status: 200,
      cut: false,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.durationMs).toBeGreaterThanOrEqual(0);
    const [received] = receiver.requests;
    expect(received).toMatchObject({ method: 'POST', path: '/hook?x=a%20b' });
    expect(received!.rawBody.equals(body)).toBe(true);
    expect(Object.keys(received!.headers).sort()).toEqual([
      'connection',
      'content-length',
      'host',
      'x-service-event',
    ]);
  });

  it.each([200, 204, 304, 400, 410, 429, 500, 503])(
    'is answered with %i, whatever that means to the caller',
    async (status) => {
      const receiver = add(await startTlsReceiver((_received, res) => res.writeHead(status).end()));
      const client = add(await localClient());
      expect(await client.request(delivery(receiver.url))).toMatchObject({ status, cut: false });
    },
  );

  it('that HTTP cannot express is refused and takes no connection away', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    const bad: Partial<OutboundRequest>[] = [
      { headers: { 'x-bad': 'a\r\nX-Injected: 1' } },
      { headers: { 'bad name': '1' } },
      { headers: { 'transfer-encoding': 'chunked' } },
      { headers: { 'content-length': '5' } },
      { method: 'GE T' },
      { method: 'CONNECT' },
    ];
    for (const options of bad)
      expect(await kindOf(client.request(delivery(receiver.url, options)))).toBe('invalid_request');
    expect((await client.request(delivery(receiver.url))).status).toBe(200);
    expect(receiver.requests).toHaveLength(1);
  });

  it('that its caller gives up ends with the reason and leaves no socket', async () => {
    const silent = add(await startRawTlsServer(() => {}));
    const mute = add(await startTcpServer());
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    const reason = new Error('changed my mind');
    for (const server of [silent, mute]) {
      const abort = new AbortController();
      const running = client.request(delivery(server.url, { signal: abort.signal }));
      const waiting = client.request(delivery(server.url, { signal: abort.signal }));
      await until(() => server.acceptedSockets === 1);
      abort.abort(reason);
      await expect(running).rejects.toBe(reason);
      await expect(waiting).rejects.toBe(reason);
      await until(() => server.openSockets === 0);
    }
    await expect(
      client.request(delivery(silent.url, { signal: AbortSignal.abort(reason) })),
    ).rejects.toBe(reason);
  });
});

describe('a request that has ended', () => {
  it("leaves nothing on its caller's signal, which may live as long as the service", async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient());
    const { signal } = new AbortController();
    await client.request(delivery(receiver.url, { signal }));
    await kindOf(client.request(delivery('https://10.0.0.1/', { signal })));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('connections', () => {
  it('are kept and used again', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    for (let sent = 0; sent < 20; sent += 1) await client.request(delivery(receiver.url));
    expect(receiver.acceptedSockets).toBe(1);
  });

  it('are no more than allowed, and requests that wait for one all arrive', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient({ connectionsPerOrigin: 3 }));
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => client.request(delivery(receiver.url))),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(receiver.acceptedSockets).toBe(3);
  });

  it('may be waited for: the wait does not count towards the deadline of the request', async () => {
    const held = Promise.withResolvers<undefined>();
    const receiver = add(
      await startTlsReceiver(({ path }, res) => {
        if (path === '/held') void held.promise.then(() => res.end());
        else res.end();
      }),
    );
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    const first = client.request(delivery(`${receiver.url}/held`, { timeoutMs: 60_000 }));
    await until(() => receiver.requests.length === 1);
    const second = client.request(delivery(receiver.url, { timeoutMs: 1_000 }));
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    held.resolve(undefined);
    for (const { status } of await Promise.all([first, second])) expect(status).toBe(200);
  });

  it.each([
    ['timed out', '/unanswered', delivery, { timeoutMs: 200 }],
    ['was cut', '/', delivery, { maxBytes: 3 }],
    ['was too large', '/', toolCall, { maxBytes: 3 }],
  ])('are replaced after a request that %s', async (_what, at, make, limits) => {
    const receiver = add(
      await startTlsReceiver(({ path }, res) => {
        if (path !== '/unanswered') res.end('answer');
      }),
    );
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    await client.request(make(receiver.url + at, limits)).catch(() => {});
    expect((await client.request(delivery(receiver.url))).body.toString()).toBe('answer');
    expect(receiver.acceptedSockets).toBe(2);
    await until(() => receiver.openSockets === 1);
  });

  it('that could not be opened hold up no later request to another host', async () => {
    let mute = true;
    const receiver = add(await startTlsReceiver());
    const client = add(
      await localClient({
        connectionsPerOrigin: 2,
        resolver: async () => (mute ? new Promise(() => {}) : ['127.0.0.1']),
      }),
    );
    const calls = Array.from({ length: 6 }, () =>
      kindOf(client.request(delivery(receiver.url, { timeoutMs: 100 }))),
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['timeout']));
    mute = false;
    // Calls to that name still wait for its name server; calls to another host do not.
    const { status } = await client.request(delivery(`https://127.0.0.1:${receiver.port}/`));
    expect(status).toBe(200);
  });

  it('that the receiver closed while idle are opened again', async () => {
    const receiver = add(
      await startTlsReceiver((_received, res) => res.setHeader('connection', 'close').end('x')),
    );
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    for (let sent = 0; sent < 3; sent += 1)
      expect((await client.request(delivery(receiver.url))).status).toBe(200);
    expect(receiver.acceptedSockets).toBe(3);
  });

  it('are all closed by close(), which lets running requests end', async () => {
    const receiver = add(
      await startTlsReceiver((_received, res) => setTimeout(() => res.end('late'), 100)),
    );
    const client = await localClient();
    const running = Array.from({ length: 5 }, () => client.request(delivery(receiver.url)));
    await until(() => receiver.requests.length === 5);
    await client.close();
    for (const { body } of await Promise.all(running)) expect(body.toString()).toBe('late');
    await until(() => receiver.openSockets === 0);
    expect(await kindOf(client.request(delivery(receiver.url)))).toBe('network');
  });
});

describe('http://', () => {
  it('is called only with INSECURE_TARGETS and only inside ALLOWED_NETWORKS', async () => {
    const server = add(await startHttp());
    const url = `http://127.0.0.1:${server.port}/`;
    const secure = add(await localClient());
    const insecure = add(await localClient({ insecureTargets: true }));
    const elsewhere = add(
      await localClient({ insecureTargets: true, allowedNetworks: ['10.0.0.0/8'] }),
    );
    expect(await kindOf(secure.request(delivery(url)))).toBe('not_https');
    expect(await kindOf(elsewhere.request(delivery(url)))).toBe('blocked_address');
    expect(server.acceptedSockets).toBe(0);
    for (const target of [url, `http://localhost:${server.port}/`])
      expect((await insecure.request(delivery(target))).body.toString()).toBe('ok');
  });

  it.each([[['1.1.1.1']], [['127.0.0.1', '1.1.1.1']], [['64:ff9b::101:101']]])(
    'is refused for %p, public addresses',
    async (addresses) => {
      const resolver = async () => addresses;
      const client = add(await localClient({ insecureTargets: true, resolver }));
      expect(await refusalOf(client, 'http://mixed.example/')).toBe('not_https');
    },
  );
});

/** The script of a process that prints the outcome of a request to each URL. */
const requesting = (...urls: string[]) => `
  import { createOutboundClient } from ${JSON.stringify(CLIENT_MODULE)};
  const allowedNetworks = ['127.0.0.0/8'];
  const ca = process.env.TEST_CA;
  const client = createOutboundClient({ allowedNetworks, insecureTargets: true, ca });
  const call = { method: 'POST', headers: {}, body: '{}', timeoutMs: 60_000 };
  const request = (url) => client.request({ url, ...call, maxBytes: 100, onTooLarge: 'fail' })
    .then(({ status }) => status, (error) => error.kind);
  for (const url of ${JSON.stringify(urls)}) console.log(await request(url));
`;
const requestAlone = (urls: string[], env: Record<string, string>) =>
  runAlone(`${requesting(...urls)} await client.close();`, env);

describe('a client in a process of its own', () => {
  it('ignores every proxy variable', async () => {
    const receiver = add(await startTlsReceiver());
    const plain = add(await startHttp());
    const proxy = add(
      await startTcpServer((socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')),
    );
    const address = `http://127.0.0.1:${proxy.port}`;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
    const variables = [...names, ...names.map((name) => name.toLowerCase())];
    const env = {
      ...Object.fromEntries(variables.map((name) => [name, address])),
      NODE_USE_ENV_PROXY: '1',
      TEST_CA: (await sharedTestCa()).ca,
    };
    const urls = [receiver.url, `http://127.0.0.1:${plain.port}/`, 'https://10.0.0.1/'];
    const { out, err } = await requestAlone(urls, env);
    expect({ out, err }).toMatchObject({ out: '200\n200\nblocked_address\n' });
    expect(proxy.acceptedSockets).toBe(0);
  });

  it('verifies certificates whatever the environment says', async () => {
    const receiver = add(await startTlsReceiver());
    const { out } = await requestAlone([receiver.url], { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(out).toBe('tls\n');
  });

  it('trusts what NODE_EXTRA_CA_CERTS names, without any option', async () => {
    const files = await writeTlsFiles(await sharedTestCa());
    const receiver = add(await startTlsReceiver());
    const { out } = await requestAlone([receiver.url], { NODE_EXTRA_CA_CERTS: files.caFile });
    await files.remove();
    expect(out).toBe('200\n');
  });

  it('keeps no timer of a request that has ended, and no socket of one that failed', async () => {
    const receiver = add(await startTlsReceiver());
    const flood = add(
      await startRawTlsServer((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1000)}`),
      ),
    );
    const code = `${requesting('https://10.0.0.1/', flood.url)}
      // Sockets take a few turns of the loop to close; what leaks stays.
      const left = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|TLS/.test(name));
      const giveUpAt = performance.now() + 3000;
      while (left().length > 0 && performance.now() < giveUpAt) await new Promise(setImmediate);
      console.log(JSON.stringify(left()));
      console.log(await request(${JSON.stringify(receiver.url)}));
      await client.close();
      console.log(process.getActiveResourcesInfo().includes('Timeout'));`;
    const { out, err } = await runAlone(code, { TEST_CA: (await sharedTestCa()).ca });
    expect({ out, err }).toMatchObject({ out: 'blocked_address\ntoo_large\n[]\n200\nfalse\n' });
  });
});
