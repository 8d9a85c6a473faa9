// Names whose name server does not answer, beside names whose name server does: of one workspace,
// and of many.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { attempt } from '../../../../service/src/deliveries/sending/attempt.ts';
import { checkTargetUrlWith } from '../../../../service/src/platform/http/checkTargetUrl.ts';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import {
  Lookups,
  MAX_WAITING_PER_WORKSPACE,
  SLOW_LOOKUP_MS,
} from '../../../../service/src/platform/outbound/lookups.ts';
import { attemptToolCall } from '../../../../service/src/tools/calls/attemptToolCall.ts';
import { readAttempt, type AnswerTask } from '../../../../service/src/tools/calls/readAnswer.ts';
import { startTlsReceiver } from '../../../helpers/tls.ts';
import { closing, delivery, kindOf, localClient, until } from './support.ts';

const { add, closeAll } = closing();
const ADDRESS = '127.0.0.1';
const AT_ONCE = 8;
/** What one workspace may hold while it is alone. */
const HALF = 4;

/** Look-ups of names that begin with "slow" end when the test says so. */
let held: Map<string, () => void>;
let asked: string[];
let reached: BoundName[];
let lookups: Lookups;
const end = (name: string) => {
  held.get(name)?.();
  held.delete(name);
};
const resolver = async (name: string) => {
  asked.push(name);
  if (name.startsWith('slow')) await new Promise<void>((done) => held.set(name, done));
  if (name.startsWith('slow-dead'))
    throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
  return [ADDRESS];
};
const bounds = { reached: (bound: BoundName) => void reached.push(bound) };

beforeEach(() => {
  [held, asked, reached] = [new Map(), [], []];
  lookups = new Lookups(resolver, { bounds, limits: { atOnce: AT_ONCE, slowAtOnce: 2 } });
});
afterEach(async () => {
  while (held.size > 0) {
    [...held.keys()].forEach(end);
    await new Promise(setImmediate);
  }
  await closeAll();
});

const ask = (workspaceId: string, hostname: string, signal?: AbortSignal) =>
  lookups.ask(hostname, { workspaceId, signal }).then(
    () => 'found',
    (error: { code?: string; kind?: string; name: string }) =>
      error.name === 'AbortError' ? error.name : (error.kind ?? error.code),
  );
const named = (count: number, prefix: string) =>
  Array.from({ length: count }, (_each, n) => `${prefix}-${n}`);
const askAll = (workspaceId: string, names: readonly string[]) =>
  names.map((name) => ask(workspaceId, name));
const found = (count: number) => Array<string>(count).fill('found');
const untilSlow = () => wait(SLOW_LOOKUP_MS + 50);

describe('a workspace that asks for hundreds of fresh names under a dead name server', () => {
  it('holds half of the places, waits with a limit, and keeps nobody else from asking for fresh names', async () => {
    const outcomes = askAll('hostile', named(300, 'slow-dead'));
    expect(held.size).toBe(HALF);
    expect(lookups.waiting).toBe(MAX_WAITING_PER_WORKSPACE);
    expect(await Promise.all(askAll('honest', named(20, 'quick')))).toEqual(found(20));
    expect(await Promise.all(outcomes.slice(HALF + MAX_WAITING_PER_WORKSPACE))).toEqual(
      Array(300 - HALF - MAX_WAITING_PER_WORKSPACE).fill('busy'),
    );
    expect(new Set(reached)).toEqual(new Set(['lookups']));
    end('slow-dead-0');
    expect(await outcomes[0]).toBe('EAI_AGAIN');
  });

  it('and others like it leave places free, once they are known to be slow', async () => {
    const hostile = named(5, 'hostile');
    const first = hostile.map((each) => ask(each, `slow-${each}`));
    expect(held.size).toBe(5);
    await untilSlow();
    hostile.forEach((each) => end(`slow-${each}`));
    await Promise.all(first);
    for (const each of hostile) void Promise.all(askAll(each, named(50, `slow-fresh-${each}`)));
    expect(held.size).toBe(AT_ONCE - 2);
    expect(await Promise.all(askAll('honest', named(20, 'quick')))).toEqual(found(20));
    expect(await Promise.all(askAll('another', named(20, 'swift')))).toEqual(found(20));
  });

  it('has its names served in turn with those of others', async () => {
    void Promise.all(askAll('hostile', named(40, 'slow-a')));
    void Promise.all(askAll('honest', named(5, 'slow-b')));
    const order = () => asked.map((name) => name[5]).join('');
    expect(order()).toBe('aaaabb');
    for (const name of ['slow-a-0', 'slow-b-0', 'slow-a-1', 'slow-b-1']) {
      const before = asked.length;
      end(name);
      await until(() => asked.length > before);
    }
    // Six places are taken; each of the two gets the next one as soon as it holds less than its
    // share.
    expect(order().slice(6)).toMatch(/^(?=.*b.*b)/);
  });
});

describe('a look-up that waits', () => {
  it('leaves the queue when the last caller gives up, and is never made', async () => {
    void Promise.all(askAll('one', named(HALF, 'slow')));
    const [first, second] = [new AbortController(), new AbortController()];
    const both = [ask('one', 'later', first.signal), ask('one', 'later', second.signal)];
    expect(lookups.waiting).toBe(1);
    first.abort();
    expect([await both[0], lookups.waiting]).toEqual(['AbortError', 1]);
    second.abort();
    expect([await both[1], lookups.waiting]).toEqual(['AbortError', 0]);
    named(HALF, 'slow').forEach(end);
    expect(await ask('one', 'last')).toBe('found');
    expect(asked).not.toContain('later');
  });

  it('is begun for another workspace that asks for the same name and has a place, and both share the answer', async () => {
    void Promise.all(askAll('one', named(HALF, 'slow')));
    const waits = ask('one', 'shared');
    expect(lookups.waiting).toBe(1);
    expect(await Promise.all([waits, ask('other', 'shared')])).toEqual(['found', 'found']);
    expect([asked.filter((name) => name === 'shared'), lookups.waiting]).toEqual([['shared'], 0]);
  });

  it('stays for those who still want it when one who shares it gives up', async () => {
    const giving = new AbortController();
    const both = [ask('one', 'slow', giving.signal), ask('other', 'slow')];
    giving.abort();
    expect(await both[0]).toBe('AbortError');
    end('slow');
    expect(await both[1]).toBe('found');
  });
});

describe('names that are slow to look up', () => {
  const SLOW = named(HALF, 'slow');
  const learnThatTheyAreSlow = async () => {
    const ended = askAll('one', SLOW);
    await untilSlow();
    SLOW.forEach(end);
    await Promise.all(ended);
  };

  it('have a quarter of the places from then on, and hold up no quick name of their workspace', async () => {
    expect(await ask('one', 'known')).toBe('found');
    await learnThatTheyAreSlow();
    const again = askAll('one', SLOW);
    expect(held.size).toBe(1);
    expect(await Promise.all(askAll('one', ['known', 'new', 'other', 'more']))).toEqual(found(4));
    for (const name of SLOW) {
      await until(() => held.has(name));
      expect([...held.keys()]).toEqual([name]);
      end(name);
    }
    expect(await Promise.all(again)).toEqual(found(SLOW.length));
  });

  it('are like any other once they were quick', async () => {
    await learnThatTheyAreSlow();
    const quick = askAll('one', SLOW);
    for (const [n, name] of SLOW.entries()) {
      await until(() => held.has(name));
      end(name);
      await quick[n];
    }
    void Promise.all(askAll('one', SLOW));
    expect(held.size).toBe(HALF);
  });
});

describe('what needs a name that cannot be looked up for now', () => {
  /** A client whose queue is full for one workspace. */
  const crowded = async () => {
    const client = add(await localClient({ resolver, bounds }));
    const giving = new AbortController();
    const { signal } = giving;
    const calls = named(MAX_WAITING_PER_WORKSPACE + HALF, 'slow').map((name) =>
      client.request(delivery(`https://${name}.example/`, { signal })).catch(() => {}),
    );
    await until(() => asked.length > 0);
    add({
      close: async () => {
        giving.abort();
        await Promise.all(calls);
      },
    });
    return client;
  };

  it('is told so: 503 when it is saved, another attempt when it is delivered or called', async () => {
    const client = await crowded();
    const url = 'https://fresh.example/';
    const busy = 'The name fresh.example was not looked up: too many other names are waiting.';
    const check = checkTargetUrlWith(client)({ id: 'ws_test' }, url, 'target_url');
    await expect(check).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      details: { param: 'target_url', retryAfterSeconds: 5 },
      message: `target_url cannot be checked just now: ${busy} Try again in a moment; nothing was changed.`,
    });
    const call = {
      workspaceId: 'ws_test',
      url,
      event: { id: 'evt_1', name: 'message.received', body: '{}' } as const,
      secrets: ['whsec_AAAA'],
      repeatRound: null,
      lastAttemptAt: null,
    };
    expect(await attempt(client, call, { now: new Date(), timeoutMs: 5_000 })).toMatchObject({
      verdict: 'retry',
      errorKind: 'busy',
      error: busy,
    });
    const envelope = {
      tool_call_id: 'call_1',
      tool: 't',
      arguments: {},
      conversation_id: 'conv_1',
    };
    const tool = { kind: 'Webhook', endpoint: url, secret: 'whsec_AAAA' } as const;
    const at = {
      workspaceId: 'ws_test',
      now: new Date(),
      timeoutMs: 5_000,
      signal: new AbortController().signal,
    };
    const reader = { read: async (_workspaceId: string, task: AnswerTask) => readAttempt(task) };
    expect(await attemptToolCall({ outbound: client, reader }, tool, envelope, at)).toMatchObject({
      type: 'failure',
      retry: 'later',
      error: { type: 'network', message: busy },
    });
    expect(reached.length).toBeGreaterThanOrEqual(3);
  });

  it('holds up no other workspace', async () => {
    const receiver = add(await startTlsReceiver());
    const client = await crowded();
    await checkTargetUrlWith(client)({ id: 'ws_other' }, 'https://localhost/', 'target_url');
    const call = delivery(receiver.url, { workspaceId: 'ws_other' });
    expect((await client.request(call)).status).toBe(200);
  });

  it('waits no longer than its deadline, and leaves no look-up behind', async () => {
    const client = add(await localClient({ resolver, bounds }));
    const calls = named(10, 'slow').map((name) =>
      kindOf(client.request(delivery(`https://${name}.example/`, { timeoutMs: 100 }))),
    );
    expect(await Promise.all(calls)).toEqual(Array(10).fill('timeout'));
    const begun = asked.length;
    expect(begun).toBeLessThan(10);
    expect(reached).toHaveLength(10 - begun);
    [...held.keys()].forEach(end);
    await client.checkTarget('https://quick.example/', 'ws_test');
    expect(asked.slice(begun)).toEqual(['quick.example']);
  });
});

describe('connections', () => {
  it('that hang for one workspace hold up no other that calls the same origin', async () => {
    const receiver = add(
      await startTlsReceiver(({ path }, response) => {
        if (path !== '/hang') response.end('ok');
      }),
    );
    const client = add(await localClient({ connectionsPerOrigin: 1 }));
    const giving = new AbortController();
    const hanging = delivery(`${receiver.url}/hang`, {
      signal: giving.signal,
      workspaceId: 'ws_hostile',
    });
    const hangs = [1, 2, 3].map(() => client.request(hanging).catch(() => {}));
    await until(() => receiver.requests.length === 1);
    const working = delivery(`${receiver.url}/works`, { workspaceId: 'ws_honest' });
    expect((await client.request(working)).status).toBe(200);
    giving.abort();
    await Promise.all(hangs);
  });

  it('of hundreds of workspaces are closed when others need the room, and each goes on', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient());
    const callOf = async (workspaceId: string) =>
      (await client.request(delivery(receiver.url, { workspaceId }))).status;
    for (let n = 0; n < 300; n += 1) expect(await callOf(`ws_${n}`)).toBe(200);
    await until(() => receiver.openSockets <= 256);
    expect(await callOf('ws_0')).toBe(200);
  });
});
