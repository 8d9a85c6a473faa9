import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { readChatStream } from '../../helpers/chatStreamReader.ts';
import { connectNumber, deliver, metaMessage } from '../../helpers/meta.ts';
import { postFrom } from '../../helpers/postFrom.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { findProgram, startCaddy, startNginx, type Proxy, type StartProxy } from './proxies.ts';

const PROXIES: readonly (readonly [string, StartProxy])[] = [
  ['caddy', startCaddy],
  ['nginx', startNginx],
];

// Each process has a store of its own here, and so a key of its own: with one key, the status tells
// which process has answered.
describe.each(PROXIES)('deploy’s %s before two processes', (name, startProxy) => {
  const program = findProgram(name);
  const test = program === null ? it.skip : it;
  let one: ServiceProcess;
  let two: ServiceProcess;
  let proxy: Proxy;
  beforeAll(async () => {
    if (program === null)
      return void process.stderr.write(
        `${name} is not installed (apt-get install ${name}): its file is not tried.\n`,
      );
    const env = { ADDRESS_BUDGET: '0.1', TRUSTED_PROXIES: '127.0.0.1/32' };
    [one, two] = await Promise.all([startServiceProcess({ env }), startServiceProcess({ env })]);
    proxy = await startProxy(program, [new URL(one.url).host, new URL(two.url).host]);
  });
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all([one?.close(), two?.close()]);
  });

  /** Statuses of requests with the first process' key. */
  const statuses = async (count: number) => {
    const api = apiClient(proxy.url, one.apiKey);
    const all: number[] = [];
    for (let n = 0; n < count; n++) all.push((await api.get('/api/hooks')).status);
    return all;
  };

  /** A proxy may hang up while a large body is still being sent; that counts as 413. */
  const refusalOf = (answer: Promise<{ readonly status: number }>) =>
    answer.then(
      ({ status }) => status,
      () => 413,
    );

  test('shares requests between them', async () => {
    expect(new Set(await statuses(20))).toEqual(new Set([200, 401]));
  });

  test('shows nobody the metrics', async () =>
    expect((await fetch(`${proxy.url}/metrics`)).status).toBe(404));

  test('lets no request fail when one of them dies', async () => {
    process.kill(two.pid, 'SIGKILL');
    expect(new Set(await statuses(20))).toEqual(new Set([200]));
  });

  test('passes on the events of a stream at once, while it stays open', async () => {
    const customer = await chatCustomer(proxy.url);
    const stream = await readChatStream(proxy.url, customer.token);
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    await waitFor('the stream’s first line', () => stream.retries.length === 1);
    for (const text of ['one', 'two']) {
      await customer.write(text);
      await waitFor(text, () => stream.seen.at(-1)?.text === text, { timeoutMs: 5000 });
    }
    stream.close();
  });

  test('tells the service the visitor’s own address, whatever the visitor claims', async () => {
    const visit = (address: string, claimed: string) =>
      postFrom(address, `${proxy.url}/api/chat/sessions`, { forwardedFor: claimed });
    const ofOneVisitor: number[] = [];
    for (let n = 1; n <= 7; n++) ofOneVisitor.push(await visit('127.0.0.5', `198.51.100.${n}`));
    expect(ofOneVisitor).toEqual([201, 201, 201, 201, 201, 201, 429]);
    expect(await visit('127.0.0.6', '127.0.0.5')).toBe(201);
  });

  test('leaves a body above the service’s limit to the service, refuses a much larger one itself, and goes on serving', async () => {
    const send = (body: BodyInit) =>
      fetch(`${proxy.url}/api/hooks`, {
        method: 'POST',
        duplex: 'half',
        headers: { authorization: `Bearer ${one.apiKey}`, 'content-type': 'application/json' },
        body,
      } as RequestInit);
    const ofSize = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes) });
    const above = await send(ofSize(300 * 1024));
    expect([
      above.status,
      ((await above.json()) as { error: { code: string } }).error.code,
    ]).toEqual([413, 'body_too_large']);
    for (let n = 0; n < 3; n++) {
      expect(await refusalOf(send(ofSize(3_000_000)))).toBe(413);
      // A body that comes without its length. Each proxy refuses it with a status of its own.
      const stream = new Blob([ofSize(3_000_000)]).stream();
      expect(await refusalOf(send(stream))).toBeGreaterThanOrEqual(400);
      expect(await statuses(3)).toEqual([200, 200, 200]);
    }
  });

  test('passes on a signed webhook of 3 MiB, and refuses one of 5 MiB, or one of 3 MiB at another path', async () => {
    const number = await connectNumber(apiClient(one.url, one.apiKey));
    const ofMiB = (size: number, name = 'Nobody') =>
      metaMessage(
        { type: 'text', text: { body: 'hello' }, filler: 'x'.repeat(size * 1024 * 1024) },
        { name },
      );
    expect((await deliver(proxy.url, number, ofMiB(3, 'Ada Three-Mebibytes'))).status).toBe(200);
    await waitFor('the message', async () =>
      JSON.stringify((await one.api.get('/api/conversations?limit=100')).body).includes(
        'Ada Three-Mebibytes',
      ),
    );
    expect(
      (await deliver(proxy.url, number, ofMiB(3), { 'x-hub-signature-256': 'sha256=00' })).status,
    ).toBe(401);
    // The service refuses what is a little above its limit, the proxy what is far above.
    for (const size of [4.2, 5, 20])
      expect(await refusalOf(deliver(proxy.url, number, ofMiB(size)))).toBe(413);
    const elsewhere = { ...number, path: number.path.replace('/webhook/', '/webhooks/') };
    expect(await refusalOf(deliver(proxy.url, elsewhere, ofMiB(3)))).toBe(413);
    expect(await statuses(3)).toEqual([200, 200, 200]);
  });

  test('passes on headers as large as the service takes, and refuses larger ones', async () => {
    const withHeader = async (bytes: number) =>
      (
        await fetch(`${proxy.url}/api/hooks`, {
          headers: { authorization: `Bearer ${one.apiKey}`, 'x-large': 'x'.repeat(bytes) },
        })
      ).status;
    expect(await withHeader(12 * 1024)).toBe(200);
    expect([400, 413, 431, 494]).toContain(await withHeader(64 * 1024));
  });

  test('ends streams in order with the last process, then answers that the service is away, and goes on when it is back', async () => {
    const customer = await chatCustomer(proxy.url);
    const stream = await readChatStream(proxy.url, customer.token);
    process.kill(one.pid, 'SIGTERM');
    expect(await stream.ended).toBe(true);
    const down = await waitFor('the proxy to say that the service is away', async () => {
      const answer = await fetch(`${proxy.url}/api/hooks`);
      return answer.status >= 502 && answer;
    });
    if (name === 'caddy') {
      expect([
        down.status,
        down.headers.get('retry-after'),
        ((await down.json()) as { error: { code: string } }).error.code,
      ]).toEqual([503, '2', 'unavailable']);
    }
    await one.restart();
    await waitFor(
      'the service behind the proxy',
      async () => (await fetch(`${proxy.url}/readyz`)).ok,
    );
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 200]);
    const again = await readChatStream(proxy.url, customer.token);
    expect(again.response.status).toBe(200);
    again.close();
  });
});
