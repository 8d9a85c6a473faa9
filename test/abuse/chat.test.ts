// Attacks 2, 7 and 8: strangers in the chat.
import { describe, expect, it } from '@jest/globals';
import { TOOL_TEST_ENV, makeLive } from '../helpers/toolEndpoint.ts';
import { minutesSince, sized } from './size.ts';
import { onStage } from './stage.ts';

/** How many messages one address may write in a minute. */
const MESSAGES_A_MINUTE = 300;

describe('2: countless sessions and long messages', () => {
  it('from one address are held to its limit, and nobody else is refused', () =>
    onStage({}, async (stage) => {
      const title = '2: messages of 4 kB in 60 sessions of one address, as many as are taken';
      const startedAt = performance.now();
      const counts = await stage.attack(title, 'chatFlood', {
        addresses: 1,
        sessionsEach: 60,
        messages: 10_000,
        connections: 20,
        seconds: 60,
      });
      expect(counts['messages 202']).toBeLessThanOrEqual(
        minutesSince(startedAt) * MESSAGES_A_MINUTE,
      );
      expect(counts['messages 429']).toBeGreaterThan(0);
      await stage.expectNoHarm();
    }));
});

describe('7: streams that are opened and kept', () => {
  it('leave streams to the visitors of another workspace', () =>
    onStage({}, async (stage) => {
      // As many as the service allows in all, in the short form too: fewer would show nothing.
      const sessions = { addresses: 200, sessions: 700, streamsEach: 8 };
      const counts = await stage.attack('7: 700 sessions with 8 streams each', 'streams', {
        ...sessions,
        seconds: sized(25, 45),
      });
      expect(counts['streams 200']).toBeGreaterThan(0);
      await stage.expectNoHarm();
    }));
});

/** What the keyword agent looks for in all that a visitor wrote. */
const PROPERTIES = {
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'time' },
  people: { type: 'integer', description: 'How many people' },
  order_code: { type: 'string' },
  phone: { type: 'string' },
  email: { type: 'string', format: 'email' },
  name: { type: 'string' },
};

describe('8: sixty visitors who write a message a second to the keyword agent', () => {
  it('leave every other request answered', () =>
    onStage({ env: TOOL_TEST_ENV }, async (stage) => {
      const { hostile } = stage.tenants;
      for (let n = 0; n < sized(5, 20); n += 1)
        await makeLive(
          hostile.api,
          await stage.endpoint.define(hostile.api, {
            name: `book_table_${n}`,
            parameters: { type: 'object', properties: PROPERTIES },
          }),
        );
      const text =
        'Please book a table on 12 May at 10:30, or order A-1042 with code 77-B of 3 June. '.repeat(
          48,
        );
      await stage.attack(
        '8: sixty visitors with a message a second to the keyword agent',
        'chatter',
        { visitors: 60, text },
      );
      await stage.expectNoHarm();
    }));
});
