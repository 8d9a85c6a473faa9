import { expect, it } from '@jest/globals';
import { DEFAULT_AGENT, type AgentSettings } from '../../../service/src/agent/agentSettings.ts';
import { replyText } from '../../../service/src/agent/turn/replyText.ts';
import type { Contact } from '../../../service/src/conversations/contact.ts';
import { CREATE_PAYMENT_LINK, type ToolCall } from '../../../service/src/tools/index.ts';

const reply = (text: string, notices: readonly string[], untold: readonly ToolCall[] = []) =>
  replyText(
    {
      settings: DEFAULT_AGENT as unknown as AgentSettings,
      messages: [],
      untold,
      contact: { phone: null, email: null } as unknown as Contact,
    },
    { type: 'reply', text, notices, qualify: false, close: null },
  );

it("cuts the model's words to what the service's own sentences leave", () => {
  expect(reply('Word. '.repeat(100), ['n'.repeat(4088)])).toBe(`Word.\n\n${'n'.repeat(4088)}`);
});

it.each([4094, 4095, 5000])(
  "leaves the model's words out when the service's own sentences have %i characters",
  (length) => {
    const notice = 'n'.repeat(length);
    expect(reply('Word. '.repeat(1000), [notice])).toBe(notice);
  },
);

it('keeps every new payment link, also one that was cut off for another', () => {
  const urls = ['https://pay.example.com/a', 'https://pay.example.com/b'] as const;
  const made = urls.map((url) => ({
    tool: CREATE_PAYMENT_LINK,
    arguments: {},
    status: 'succeeded',
    resultJson: JSON.stringify({ url, amount_display: '5.00 USD', description: 'tea' }),
  })) as unknown as ToolCall[];
  const message = reply(`${'word '.repeat(810)}${urls[0]}`, [], made);
  expect(urls.filter((url) => !message.includes(url))).toEqual([]);
});
