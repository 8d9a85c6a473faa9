// What strangers behind one address may do together, and one visitor alone.
import { createHmac } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addressBudget } from '../../../service/src/platform/http/server/addressBudget.ts';
import { MAX_LINES_PER_MINUTE } from '../../../service/src/platform/http/server/logRequests.ts';
import { rateLimit } from '../../../service/src/platform/http/server/rateLimit.ts';
import { unwatchedBounds, type BoundName } from '../../../service/src/platform/limits/bounds.ts';
import { MemoryLimiter } from '../../../service/src/platform/limits/memoryLimiter.ts';
import { apiClient, type ApiAnswer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

/** The header in which a proxy in front of the service gives the visitor's address. */
const from = (address: string) => ({ 'x-forwarded-for': address });
const countBy = (answers: readonly ApiAnswer[]) => {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status < 400 ? 'ok' : body.error.code;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
};
const reachedBound = async ({ url }: TestService, bound: BoundName) =>
  (await readMetrics(url)).value('conversation_service_bound_reached_total', { bound }) ?? 0;
/** Reads a visitor's chat. */
const readFrom = ({ url }: TestService, token: string, address: string) =>
  apiClient(url, token).call('GET', '/api/chat/messages?limit=200', undefined, from(address));
const arriveFrom = ({ url }: TestService, address: string) =>
  apiClient(url, null).post('/api/chat/sessions', {}, from(address));

describe('strangers, as the service is set up by default', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      env: {
        ADDRESS_BUDGET: undefined,
        CHAT_RATE_LIMIT_PER_MINUTE: undefined,
        API_RATE_LIMIT_PER_MINUTE: undefined,
        WORKSPACE_RATE_LIMIT_PER_MINUTE: undefined,
      },
    });
  });
  afterAll(() => service?.stop());

  const arrive = (address: string) => arriveFrom(service, address);
  const read = (token: string, address: string) => readFrom(service, token, address);
  const tokenFrom = async (address: string): Promise<string> => (await arrive(address)).body.token;
  const write = (token: string, address: string, id: string, text = 'Hello') =>
    apiClient(service.url, token).post(
      '/api/chat/messages',
      { text, client_message_id: id },
      from(address),
    );
  /** In batches of 20. */
  const times = async <T>(count: number, what: (n: number) => Promise<T>): Promise<T[]> => {
    const all: T[] = [];
    for (let n = 0; n < count; n += 20) {
      const batch = Array.from({ length: Math.min(20, count - n) }, (_, at) => what(n + at));
      all.push(...(await Promise.all(batch)));
    }
    return all;
  };
  const reached = (bound: BoundName) => reachedBound(service, bound);
  const expectRefused = (
    { status, headers, body }: ApiAnswer,
    words: RegExp,
    longestSeconds: number,
  ) => {
    expect([status, body.error.code]).toEqual([429, 'rate_limited']);
    expect(body.error.message).toMatch(words);
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(longestSeconds);
  };

  it('open 60 chats from one address, and no more; another address is not touched', async () => {
    const before = await reached('address_sessions');
    expect(countBy(await times(65, () => arrive('192.0.2.1')))).toEqual({
      ok: 60,
      rate_limited: 5,
    });
    expectRefused(await arrive('192.0.2.1'), /60 new chats from one address in two minutes/, 120);
    expect((await arrive('192.0.2.2')).status).toBe(201);
    expect((await reached('address_sessions')) - before).toBe(6);
  });

  it('send 300 wrong keys a minute; a key that was right lately still works from the same address', async () => {
    const listWith = async (key: string, address: string): Promise<ApiAnswer> => {
      const answer = await fetch(`${service.url}/api/hooks`, {
        headers: { authorization: `Bearer ${key}`, ...from(address) },
      });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    };
    expect((await listWith(service.apiKey, '192.0.2.77')).status).toBe(200);
    const guess = (n: number) => `cs_live_${String(n).padStart(32, '0')}`;
    expect(countBy(await times(320, (n) => listWith(guess(n), '192.0.2.77')))).toEqual({
      unauthorized: 300,
      rate_limited: 20,
    });
    expectRefused(
      await listWith(guess(999), '192.0.2.77'),
      /300 wrong API keys from one address in a minute/,
      60,
    );
    expect((await listWith(service.apiKey, '192.0.2.77')).status).toBe(200);
    expect((await listWith(guess(1), '192.0.2.78')).status).toBe(401);
    expect(await reached('address_wrong_keys')).toBe(21);
  });

  it('count as one with a whole IPv6 /64, and with the same address written as IPv6', async () => {
    expect(countBy(await times(62, (n) => arrive(`2001:db8:1:1:${n}::${n}`)))).toEqual({
      ok: 60,
      rate_limited: 2,
    });
    expect((await arrive('2001:db8:1:2::1')).status).toBe(201);
    expect((await arrive('::ffff:192.0.2.1')).status).toBe(429);
  });

  it('write 30 messages a minute each, and reading takes nothing of that', async () => {
    const token = await tokenFrom('192.0.2.10');
    for (let n = 0; n < 40; n++) expect((await read(token, '192.0.2.10')).status).toBe(200);
    expect(countBy(await times(33, (n) => write(token, '192.0.2.10', `${n}`)))).toEqual({
      ok: 30,
      rate_limited: 3,
    });
    expectRefused(await write(token, '192.0.2.10', 'x'), /30 messages in a minute/, 60);
    // A page that polls goes on, for its visitor and at its pace.
    for (let n = 0; n < 40; n++) expect((await read(token, '192.0.2.10')).status).toBe(200);
    const other = await tokenFrom('192.0.2.10');
    expect((await write(other, '192.0.2.10', 'another visitor')).status).toBe(202);
    expect(await reached('visitor_messages')).toBe(4);
  });

  it('read 240 times a minute each', async () => {
    const token = await tokenFrom('192.0.2.11');
    const answers = await times(245, () => read(token, '192.0.2.11'));
    expect(countBy(answers)).toEqual({ ok: 240, rate_limited: 5 });
    expect((await write(token, '192.0.2.11', 'still heard')).status).toBe(202);
  });

  it('write 300 messages a minute from one address; a visitor’s refused messages are not taken from the others', async () => {
    const tokens = await times(11, () => tokenFrom('192.0.2.20'));
    expect(countBy(await times(60, (n) => write(tokens[0]!, '192.0.2.20', `${n}`)))).toEqual({
      ok: 30,
      rate_limited: 30,
    });
    const answers = await times(280, (n) => write(tokens[1 + (n % 10)]!, '192.0.2.20', `${n}`));
    expect(countBy(answers)).toEqual({ ok: 270, rate_limited: 10 });
    expectRefused(answers.at(-1)!, /300 chat messages from one address in a minute/, 60);
    expect((await write(await tokenFrom('192.0.2.21'), '192.0.2.21', '1')).status).toBe(202);
  });

  it('send 2 MB of chat requests a minute from one address, with or without a Content-Length', async () => {
    const text = 'x'.repeat(200_000); // too long for a message: 400, and its bytes count
    const sizeOf = (n: number) => JSON.stringify({ text, client_message_id: `${n}` }).length;
    const token = await tokenFrom('192.0.2.30');
    const allowed = Math.floor(2_000_000 / sizeOf(1));
    const withLength = await times(11, (n) => write(token, '192.0.2.30', `${n}`, text));
    expect(countBy(withLength)).toEqual({ invalid_request: allowed, rate_limited: 11 - allowed });
    expectRefused(
      withLength.find(({ status }) => status === 429)!,
      /2,000,000 bytes of chat messages from one address/,
      60,
    );

    const other = await tokenFrom('192.0.2.31');
    const send = async (n: number) => {
      const body = new Blob([JSON.stringify({ text, client_message_id: `${n}` })]).stream();
      const headers = {
        ...from('192.0.2.31'),
        authorization: `Bearer ${other}`,
        'content-type': 'application/json',
      };
      const post = { method: 'POST', duplex: 'half', headers, body } as RequestInit;
      return (await fetch(`${service.url}/api/chat/messages`, post)).status;
    };
    const withoutLength: number[] = [];
    for (let n = 0; n < 11; n++) withoutLength.push(await send(n));
    expect(withoutLength.slice(0, 8)).toEqual(Array(8).fill(400));
    expect(withoutLength.slice(-1)).toEqual([429]);
    expect(await reached('address_bytes')).toBeGreaterThan(0);
  });

  it('chat unhindered as an office of 40 behind one address', async () => {
    const address = '192.0.2.40';
    const text = 'A message of ordinary length, as people write them in a chat.';
    const tokens = await times(40, () => tokenFrom(address));
    const answers: ApiAnswer[] = [];
    for (let round = 0; round < 6; round++) {
      answers.push(...(await times(40, (n) => write(tokens[n]!, address, `${round}`, text))));
      answers.push(...(await times(40, (n) => read(tokens[n]!, address))));
    }
    expect(countBy(answers)).toEqual({ ok: 40 * 6 * 2 });
  });
});

describe('an address with a hundredth of the budget', () => {
  let service: TestService;
  beforeEach(async () => {
    // 60 requests, three wrong keys, and 200 kB of messages read.
    service = await startTestService({ env: { ...MEMBER_ENV, ADDRESS_BUDGET: '0.01' } });
  });
  afterEach(() => service?.stop());

  it('loads as many pages as its budget allows, then one that says why there are no more', async () => {
    const member = await signedInBrowser(service.url);
    const get = (path: string) => fetch(service.url + path, { headers: from('192.0.2.1') });
    const paths = [
      '/chat',
      '/sign-in',
      '/join?token=x',
      '/setup?token=x',
      '/api/openapi.json',
      '/assets/chat.js',
    ];
    for (let n = 0; n < 60; n++) {
      const answer = await get(paths[n % paths.length]!);
      // An unread answer is still under way, and only two may be.
      const text = await answer.text();
      expect(answer.status === 429 ? text : '').toBe('');
    }
    for (const path of paths) {
      const answer = await get(path);
      expect([path, answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([
        path,
        429,
        true,
      ]);
      expect(await answer.text()).toContain('requests from one address');
    }
    // Callers with a valid key or session are not counted there.
    for (let n = 0; n < 5; n++) {
      const answer = await service.api.call('GET', '/api/hooks', undefined, from('192.0.2.1'));
      expect(answer.status).toBe(200);
    }
    expect((await member.get('/conversations', from('192.0.2.1'))).status).toBe(200);
    expect((await get('/healthz')).status).toBe(200);
    const delivery = '{"entry":[]}';
    const signature = `sha256=${createHmac('sha256', 'x').update(delivery).digest('hex')}`;
    const webhook = await fetch(
      `${service.url}/api/channels/whatsapp/webhook/chan_${'0'.repeat(26)}`,
      {
        method: 'POST',
        headers: { ...from('192.0.2.1'), 'x-hub-signature-256': signature },
        body: delivery,
      },
    );
    expect(webhook.status).toBe(404);
  });

  it('is sent 200 kB of messages a minute, by reading or by a stream; another address goes on', async () => {
    const { token } = (await arriveFrom(service, '192.0.2.1')).body;
    const visitor = apiClient(service.url, token);
    for (const client_message_id of ['1', '2', '3']) {
      const message = { text: 'x'.repeat(4096), client_message_id };
      const { status } = await visitor.post('/api/chat/messages', message, from('192.0.2.1'));
      expect(status).toBe(202);
    }
    const read = (address: string) => readFrom(service, token, address);
    const answers: ApiAnswer[] = [];
    for (let n = 0; n < 20; n++) answers.push(await read('192.0.2.1'));
    // Some 13 kB each.
    expect(countBy(answers)).toEqual({ ok: 16, rate_limited: 4 });
    expect(answers.at(-1)!.body.error.message).toMatch(
      /200,000 bytes of chat messages read from one address/,
    );
    const stream = await fetch(`${service.url}/api/chat/stream`, {
      headers: { ...from('192.0.2.1'), authorization: `Bearer ${token}` },
    });
    expect([stream.status, Number(stream.headers.get('retry-after')) > 0]).toEqual([429, true]);
    await stream.text();
    expect((await read('192.0.2.2')).status).toBe(200);
  });
});

/** Asks the budget itself, with a clock that the test sets. */
it('an address has 2,000 new chats and 20,000 messages a day, however slowly they come, and the next day again', async () => {
  let now = 0;
  const limiters = (limit: ConstructorParameters<typeof MemoryLimiter>[0]) =>
    new MemoryLimiter(limit, { now: () => now });
  const budget = addressBudget({ limiters, bounds: unwatchedBounds }, 1);
  const ask = async (handler: typeof budget.sessions): Promise<string> => {
    try {
      await handler({ ip: '192.0.2.1' } as never, {} as never, () => {});
      return 'ok';
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const [handler, perDay, stepMs] of [
    [budget.sessions, 2000, 2500],
    [budget.messages, 20_000, 300],
  ] as const) {
    let count = 0;
    let last = await ask(handler);
    for (; last === 'ok'; last = await ask(handler)) {
      count += 1;
      now += stepMs;
    }
    expect(count).toBe(perDay);
    expect(last).toContain('from one address in a day');
    now += 86_400_000;
    expect(await ask(handler)).toBe('ok');
  }
});

describe('an address without a budget', () => {
  let service: TestService;
  const lines: string[] = [];
  beforeAll(async () => {
    service = await startTestService({
      log: pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
    });
  });
  afterAll(() => service?.stop());

  // The first test of this service, because it counts all refused requests.
  it('does not fill the log: its refused requests get 600 lines a minute', async () => {
    const ask = (path: string) => fetch(service.url + path).then((answer) => answer.text());
    for (let n = 0; n < 700; n += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, k) => ask(k % 2 === 0 ? '/nothing' : '/api/hooks')),
      );
    const written = () => lines.filter((line) => line.includes('request completed')).length;
    const withheld = () => reachedBound(service, 'log_lines');
    await waitFor('all to be written or withheld', async () => (await withheld()) === 100);
    expect(written()).toBe(MAX_LINES_PER_MINUTE);
    expect(lines.filter((line) => line.includes('log_lines'))).toHaveLength(1);
  });

  it('has no limit', async () => {
    for (let n = 0; n < 70; n++) expect((await arriveFrom(service, '192.0.2.1')).status).toBe(201);
  });

  it('opens no stream by HEAD, which would never end', async () => {
    const { token } = (await apiClient(service.url, null).post('/api/chat/sessions', {})).body;
    const answer = await fetch(`${service.url}/api/chat/stream`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(405);
  });
});

describe('API calls of a workspace', () => {
  it('are counted over all its keys, beside those of each key', async () => {
    const service = await startTestService({
      env: {
        ...MEMBER_ENV,
        API_RATE_LIMIT_PER_MINUTE: '20',
        WORKSPACE_RATE_LIMIT_PER_MINUTE: '50',
      },
    });
    try {
      const other = await service.addWorkspace('Other');
      const member = await signedInBrowser(service.url);
      await member.get('/keys');
      const keys: string[] = [];
      while (keys.length < 4)
        keys.push(
          /cs_live_[0-9A-Za-z]{32}/.exec(
            (await member.post('/keys', { name: `key ${keys.length}` })).html,
          )![0],
        );
      const call = async (key: string, count: number) => {
        const answers: ApiAnswer[] = [];
        for (let n = 0; n < count; n++)
          answers.push(await apiClient(service.url, key).get('/api/hooks/events'));
        return answers;
      };
      expect(countBy(await call(keys[0]!, 25))).toEqual({ ok: 20, rate_limited: 5 });
      // The calls that a key was refused do not count for the workspace.
      expect(countBy(await call(keys[1]!, 20))).toEqual({ ok: 20 });
      const third = await call(keys[2]!, 12);
      expect(countBy(third)).toEqual({ ok: 10, rate_limited: 2 });
      expect(third.at(-1)!.body.error.message).toMatch(
        /50 API calls of this workspace in a minute/,
      );
      expect(Number(third.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(countBy(await call(keys[3]!, 3))).toEqual({ rate_limited: 3 });
      expect((await other.get('/api/hooks')).status).toBe(200);
      expect(await reachedBound(service, 'workspace_api_calls')).toBe(5);
      expect(await reachedBound(service, 'key_api_calls')).toBe(5);
    } finally {
      await service.stop();
    }
  });
});

it('a rate limit that is off counts nothing', async () => {
  const { spend } = rateLimit(
    {
      limiters: () => {
        throw new Error('counted');
      },
      bounds: unwatchedBounds,
    },
    { most: 0, bound: 'key_api_calls', what: 'x' },
  );
  await spend('anybody');
});
