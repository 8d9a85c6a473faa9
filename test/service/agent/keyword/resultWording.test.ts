import { describe, expect, it } from '@jest/globals';
import type { PastToolCall } from '../../../../service/src/agent/agentModel.ts';
import { sentence } from '../../../../service/src/agent/keyword/sentences.ts';
import { call, callOf, calls, late, next, reply, said } from './keywordStage.ts';

describe('after tool calls', () => {
  const result = (lines: string) => sentence('toolResult', 'en', { result: lines });

  it.each<[PastToolCall['status'], string, string]>([
    ['succeeded', '"It ships today"', 'It ships today'],
    ['succeeded', '{"id":7,"message":"Arrives Monday"}', 'Arrives Monday'],
    ['succeeded', '[{"json":{"output":"{\\"answer\\":\\"deep\\"}"}}]', 'deep'],
    [
      'succeeded',
      '{"order_id":"A1","eta":null,"isPaid":true,"total":12.5,"tags":["a","b"]}',
      result('Order id: A1\nIs Paid: yes\nTotal: 12.5\nTags: a, b'),
    ],
    [
      'succeeded',
      '[{"name":"Red","price":5},{"name":"Blue","price":7}]',
      result('- Name: Red, Price: 5\n- Name: Blue, Price: 7'),
    ],
    ['succeeded', '[1,2,3,4,5,6,7]', result('- 1\n- 2\n- 3\n- 4\n- 5\nAnd 2 more.')],
    ['succeeded', '{"ok":true}', sentence('toolDone', 'en')],
    ['succeeded', '[{"json":{"success":true,"error":null}}]', sentence('toolDone', 'en')],
    ['succeeded', '{"status":"accepted"}', sentence('toolDone', 'en')],
    ['succeeded', '{"status":200,"ok":"true"}', sentence('toolDone', 'en')],
    ['succeeded', '{"ok":true,"total":5}', result('Ok: yes\nTotal: 5')],
    ['succeeded', '{"ok":false}', result('Ok: no')],
    ['succeeded', '{"status":"delayed"}', result('Status: delayed')],
    ['succeeded', '{"status":7}', result('Status: 7')],
    ['succeeded', '[]', sentence('nothingFound', 'en')],
    ['succeeded', '{"data":[],"next_cursor":null}', sentence('nothingFound', 'en')],
    ['succeeded', '{"orders":[],"count":0}', result('Count: 0')],
    ['succeeded', '{"order":{"status":"sent"},"error":null}', result('Status: sent')],
    ['succeeded', 'null', sentence('toolDone', 'en')],
    ['succeeded', '{"cut":["in the mid', sentence('toolDone', 'en')],
    ['succeeded', '{"data":{"rows":[{"status":"sent"}]}}', result('Status: sent')],
    ['succeeded', '{"rows":[{"a":{"b":1}},{"a":{"b":2}}]}', sentence('toolDone', 'en')],
    ['succeeded', 'plain words', 'plain words'],
    ['succeeded', '"One\\nTwo \\"th… (cut)', 'One\nTwo "th… (cut)'],
    ['succeeded', '"One\\nTwo\\u00… (cut)', 'One\nTwo… (cut)'],
    ['succeeded', '"C:\\\\… (cut)', 'C:\\… (cut)'],
    ['succeeded', '"C:\\\\\\… (cut)', 'C:\\… (cut)'],
    ['pending_approval', '', sentence('waitingForApproval', 'en')],
    ['failed', 'HTTP 500', sentence('toolFailed', 'en')],
    ['cancelled', '', sentence('toolFailed', 'en')],
    ['rejected', '', sentence('approvalRejected', 'en')],
    ['expired', '', sentence('approvalExpired', 'en')],
  ])('%s %s', async (status, outcome, text) => {
    expect(await next(['order?', calls(call(status, outcome))])).toEqual(reply(text));
    expect(
      await next([
        'order?',
        calls(call('pending_approval')),
        said('…'),
        late(call(status, outcome)),
      ]),
    ).toEqual(reply(text));
  });

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
