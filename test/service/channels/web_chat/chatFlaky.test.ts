import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { readChatStream } from '../../../helpers/chatStreamReader.ts';
import {
  FAULT_KINDS,
  randomFrom,
  startFlakyProxy,
  type FlakyProxy,
} from '../../../helpers/flakyProxy.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const VISITORS = 6;
const MESSAGES = 20;
/** After how long a stalled request is given up. */
const PATIENCE_MS = 400;
/** The patience grows by this factor after each request that is given up, for busy machines. */
const PATIENCE_FACTOR = 2;

interface Visitor {
  readonly token: string;
  /** The messages, in the order in which the stream gave them. */
  readonly shown: { readonly id: string; readonly text: string }[];
  streamsOpened: number;
  sendsTried: number;
  /** The conversation, once the first message was taken. */
  conversationId: string | null;
}

/**
 * Writes by the rule in the API's description: sends again with the same client_message_id until an
 * answer comes.
 */
async function write(
  proxy: FlakyProxy,
  visitor: Visitor,
  text: string,
  random: () => number,
): Promise<void> {
  let patienceMs = PATIENCE_MS;
  for (;;) {
    visitor.sendsTried += 1;
    try {
      const answer = await fetch(`${proxy.url}/api/chat/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${visitor.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ text, client_message_id: text }),
        signal: AbortSignal.timeout(patienceMs),
      });
      const taken = (await answer.json()) as { conversation_id: string };
      if (answer.status !== 202) throw new Error(`not taken: ${answer.status}`, { cause: taken });
      visitor.conversationId = taken.conversation_id;
      return;
    } catch (error) {
      if (/^not taken/.test((error as Error).message)) throw error;
      if ((error as Error).name === 'TimeoutError') patienceMs *= PATIENCE_FACTOR;
      await new Promise((resolve) => setTimeout(resolve, random() * 20));
    }
  }
}

/** Follows the stream over all its breaks, from where it broke. */
async function follow(
  proxy: FlakyProxy,
  visitor: Visitor,
  signal: AbortSignal,
  random: () => number,
): Promise<void> {
  let patienceMs = PATIENCE_MS;
  while (!signal.aborted) {
    const patience = new AbortController();
    let timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      const stream = await readChatStream(proxy.url, visitor.token, {
        lastEventId: visitor.shown.at(-1)?.id ?? null,
        signal: AbortSignal.any([signal, patience.signal]),
        onMessage(message) {
          visitor.shown.push(message);
          clearTimeout(timer);
          patienceMs = PATIENCE_MS;
          timer = setTimeout(() => patience.abort(), patienceMs);
        },
      });
      expect(stream.response.status).toBe(200);
      visitor.streamsOpened += 1;
      await stream.ended;
    } catch (error) {
      if ((error as Error).message.includes('expect(')) throw error;
    }
    clearTimeout(timer);
    if (patience.signal.aborted) patienceMs *= PATIENCE_FACTOR;
    await new Promise((resolve) => setTimeout(resolve, random() * 20));
  }
}

const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n + 1}`);

describe('the chat under a flaky connection', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());
  const struck = new Set<string>();

  // The second seed is random; a failure names it.
  it.each([1, randomInt(1_000_000)])(
    'stores and shows each message exactly once, in order (seed %i)',
    async (seed) => {
      const random = randomFrom(seed + 1);
      const proxy = await startFlakyProxy(service.url, { seed, share: 0.5 });
      const done = new AbortController();
      try {
        const visitors = await Promise.all(
          Array.from({ length: VISITORS }, async (): Promise<Visitor> => {
            const { token } = await chatCustomer(service.url);
            return { token, shown: [], streamsOpened: 0, sendsTried: 0, conversationId: null };
          }),
        );
        const following = visitors.map((visitor) => follow(proxy, visitor, done.signal, random));
        const replies = numbered('reply', MESSAGES);
        await Promise.all(
          visitors.map(async (visitor) => {
            const writing = (async () => {
              for (const text of numbered('message', MESSAGES))
                await write(proxy, visitor, text, random);
            })();
            await waitFor('the first message', () => visitor.conversationId !== null);
            const path = `/api/conversations/${visitor.conversationId}/messages`;
            for (const text of replies) {
              await service.api.post(path, { text });
              await new Promise((resolve) => setTimeout(resolve, random() * 40));
            }
            await writing;
          }),
        );
        await waitFor('every stream to have it all', () =>
          visitors.every(({ shown }) => shown.length >= 2 * MESSAGES),
        );
        done.abort();
        await Promise.all(following);

        for (const visitor of visitors) {
          const path = `/api/conversations/${visitor.conversationId}?messages=200`;
          const { body } = await service.api.get(path);
          expect(body.message_count).toBe(2 * MESSAGES);
          const texts: string[] = body.messages.map(({ text }: { text: string }) => text);
          const beginningWith = (word: string) => texts.filter((text) => text.startsWith(word));
          expect(beginningWith('message')).toEqual(numbered('message', MESSAGES));
          expect(beginningWith('reply')).toEqual(replies);
          expect(visitor.shown.map(({ text }) => text)).toEqual(texts);
        }
        // The test has tested something: breaks happened, and made visitors repeat themselves and
        // come back.
        for (const kind of Object.keys(proxy.struck)) struck.add(kind);
        const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b);
        const sends = sum(visitors.map(({ sendsTried }) => sendsTried));
        expect(sends).toBeGreaterThan(VISITORS * MESSAGES);
        const streams = sum(visitors.map(({ streamsOpened }) => streamsOpened));
        expect(streams).toBeGreaterThan(VISITORS);
      } finally {
        done.abort();
        await proxy.close();
      }
    },
  );

  it('has met each kind of break', () =>
    expect([...struck].sort()).toEqual(FAULT_KINDS.toSorted()));
});
