import { describe, expect, it } from '@jest/globals';
import type { PastToolCall } from '../../../../service/src/agent/agentModel.ts';
import { sentence } from '../../../../service/src/agent/keyword/sentences.ts';
import { call, callOf, calls, late, next, reply, said } from './keywordStage.ts';

describe('after tool calls', () => {
  const result = (lines: string) => sentence('toolResult', 'en', { result: lines });

  const DONE = sentence('toolDone', 'en');
  const NOTHING = sentence('nothingFound', 'en');
  const expectSaid = async (status: PastToolCall['status'], outcome: string, text: string) => {
    const waited = ['order?', calls(call('pending_approval')), said('…')];
    expect(await next(['order?', calls(call(status, outcome))])).toEqual(reply(text));
    expect(await next([...waited, late(call(status, outcome))])).toEqual(reply(text));
  };

  it.each([
    ['"It ships today"', 'It ships today'],
    ['{"id":7,"message":"Arrives Monday"}', 'Arrives Monday'],
    ['[{"json":{"output":"{\\"answer\\":\\"deep\\"}"}}]', 'deep'],
    [
      '{"order_id":"A1","eta":null,"isPaid":true,"total":12.5,"tags":["a","b"]}',
      result('Order id: A1\nIs Paid: yes\nTotal: 12.5\nTags: a, b'),
    ],
    [
      '[{"name":"Red","price":5},{"name":"Blue","price":7}]',
      result('- Name: Red, Price: 5\n- Name: Blue, Price: 7'),
    ],
    ['[1,2,3,4,5,6,7]', result('- 1\n- 2\n- 3\n- 4\n- 5\nAnd 2 more.')],
    ['{"ok":true}', DONE],
    ['[{"json":{"success":true,"error":null}}]', DONE],
    ['{"ok":true,"message":""}', DONE],
    ['{"message":"","items":[]}', NOTHING],
    ['{"status":"accepted"}', DONE],
    ['{"status":200,"ok":"true"}', DONE],
    ['{"ok":true,"total":5}', result('Ok: yes\nTotal: 5')],
    ['{"ok":false}', result('Ok: no')],
    ['{"status":"delayed"}', result('Status: delayed')],
    ['{"status":7}', result('Status: 7')],
    ['[]', NOTHING],
    ['{"data":[],"next_cursor":null}', NOTHING],
    ['{"orders":[],"count":0}', result('Count: 0')],
    ['{"order":{"status":"sent"},"error":null}', result('Status: sent')],
    ['null', DONE],
    ['{"cut":["in the mid', DONE],
    ['{"data":{"rows":[{"status":"sent"}]}}', result('Status: sent')],
    ['{"rows":[{"a":{"b":1}},{"a":{"b":2}}]}', DONE],
    ['plain words', 'plain words'],
    ['"[Order 1182] is on its way"', '[Order 1182] is on its way'],
    ['{"message":"[TEST] Booked"}', '[TEST] Booked'],
    ['"[object Object]"', DONE],
    ['"[1, 2"', DONE],
    ['"[\\"a"', DONE],
    ['"[true, fal"', DONE],
    ['"One\\nTwo \\"th… (cut)', 'One\nTwo "th… (cut)'],
    ['"One\\nTwo\\u00… (cut)', 'One\nTwo… (cut)'],
    ['"C:\\\\… (cut)', 'C:\\… (cut)'],
    ['"C:\\\\\\… (cut)', 'C:\\… (cut)'],
  ])('succeeded %s', (outcome, text) => expectSaid('succeeded', outcome, text));

  it.each([
    ['pending_approval', '', sentence('waitingForApproval', 'en')],
    ['failed', 'HTTP 500', sentence('toolFailed', 'en')],
    ['cancelled', '', sentence('toolFailed', 'en')],
    ['rejected', '', sentence('approvalRejected', 'en')],
    ['expired', '', sentence('approvalExpired', 'en')],
  ] as const)('%s %s', expectSaid);

  it.each([
    '"' + 'x'.repeat(5000) + '"',
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, '😀'.repeat(200)])),
    ),
    '['.repeat(4000) + ']'.repeat(4000),
    '{"a":'.repeat(1000) + '1' + '}'.repeat(1000),
  ])('a hostile result becomes a short reply without JSON (%#)', async (outcome) => {
    const step = await next(['order?', calls(call('succeeded', outcome))]);
    expect(
      step.type === 'reply' &&
        step.text.length <= 1_000 &&
        step.text.isWellFormed() &&
        !/[{[]/.test(step.text),
    ).toBe(true);
  });

  it('a late result replaces what was known of its call', async () => {
    expect(
      await next(['order?', calls(call('pending_approval')), late(call('succeeded', '"Here"'))]),
    ).toEqual(reply('Here'));
  });

  it('a result that a message of the customer overtook is still told', async () => {
    const overtaken = ['order 1?', calls(call('succeeded', '"Here"'))];
    expect(await next([...overtaken, 'hello'])).toEqual(
      reply(`Here\n\n${sentence('howCanIHelp', 'en')}`),
    );
    expect(await next([said('…'), ...overtaken, 'and so?'])).toEqual(reply('Here'));
    expect(await next([...overtaken, 'opening hours?'])).toEqual(callOf('opening_hours', {}));
    expect(
      await next([
        ...overtaken,
        'opening hours?',
        calls(call('succeeded', '"9 to 5"', { id: 'call_2' })),
      ]),
    ).toEqual(reply('Here\n\n9 to 5'));
  });
});
