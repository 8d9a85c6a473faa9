// The keyword agent and payment links: only for a clear request with one amount, and never without
// a person.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Language } from '../../../service/src/agent/agentModel.ts';
import { moneyIn } from '../../../service/src/agent/keyword/money.ts';
import { paymentLinkCall } from '../../../service/src/agent/keyword/paymentRequest.ts';
import { SENTENCES } from '../../../service/src/agent/sentences.ts';
import { setUpManual } from '../payments/support.ts';
import { answers, startAgentService, type AgentService, type Talk } from './agentService.ts';

const argumentsFor = (text: string, language: Language) =>
  paymentLinkCall(text, language)?.calls[0]!.arguments ?? null;

describe('a clear request to pay', () => {
  it.each<[Language, string, number, string, string]>([
    ['en', 'I want to pay 50 dollars', 50, 'usd', 'Payment'],
    ['en', 'hi, I would like to pay $49.90 for the demo please', 49.9, 'usd', 'the demo'],
    ['en', 'can you send me a payment link for 50 USD?', 50, 'usd', 'Payment'],
    ['en', 'I want a payment link for 1,500.50 euros', 1500.5, 'eur', 'Payment'],
    ['en', 'I want to pay JPY 4900 for the course', 4900, 'jpy', 'the course'],
    [
      'en',
      "I'd like to pay 50 pounds for the gold membership plan",
      50,
      'gbp',
      'the gold membership plan',
    ],
    ['en', 'I want to pay 50 dollars for my order 4455', 50, 'usd', 'my order 4455'],
    ['es', 'quiero pagar 50 usd', 50, 'usd', 'Pago'],
    ['es', 'pagar 50 usd', 50, 'usd', 'Pago'],
    ['es', 'quisiera pagar 50 dólares por la clase', 50, 'usd', 'la clase'],
    ['es', '¿me puede enviar un link de pago de 1.500,50 euros?', 1500.5, 'eur', 'Pago'],
    ['es', 'Hola, necesito pagar 200 pesos mexicanos', 200, 'mxn', 'Pago'],
    ['pt', 'quero pagar R$ 49,90 pela aula', 49.9, 'brl', 'aula'],
    ['pt', 'você pode me mandar um link de pagamento de 50 reais?', 50, 'brl', 'Pagamento'],
    ['pt', 'gostaria de pagar 100 dólares pelo curso, por favor', 100, 'usd', 'curso'],
  ])('%s: %s', (language, text, amount, currency, description) => {
    expect(paymentLinkCall(text, language)).toEqual({
      type: 'tool_calls',
      calls: [
        {
          tool: 'create-payment-link',
          arguments: { amount, currency, description },
          needsApproval: true,
        },
      ],
    });
  });

  it.each<[Language, string]>([
    ['en', 'how do I pay 50 dollars?'],
    ['en', 'I paid 50 dollars already'],
    ['en', 'can I pay 50 dollars now and the rest later?'],
    ['en', 'I do not want to pay 50 dollars'],
    ['en', 'I was told to pay 50 dollars'],
    ['en', 'I want to pay'],
    ['en', 'I want to pay my invoice 4455'],
    ['en', 'I want to pay 50'],
    ['en', 'I want to pay $50k'],
    ['en', 'I want to pay $50 million'],
    ['en', 'I want to pay 50 dollars or 60 dollars'],
    ['en', 'I want to pay 10-50 usd'],
    ['en', 'I want to pay -50 usd'],
    ['en', 'I want to pay 0 dollars'],
    ['en', 'I want to pay 49.999 dollars'],
    ['en', 'I want to pay 50 canadian dollars'],
    ['en', 'it costs 50 dollars'],
    ['en', 'I want to buy a bike for 50 dollars'],
    ['en', 'I want a refund of 50 dollars'],
    ['en', 'I want you to pay me 50 dollars'],
    ['en', 'you charged me 50 dollars'],
    ['en', 'I want to pay 50 dollars, but my card fails'],
    ['es', 'quiero pagar $50'],
    ['es', 'quiero pagar 50 pesos'],
    ['es', 'quiero pagar 50 mil dólares'],
    ['es', 'ya pagué 50 usd'],
    ['es', 'cómo puedo pagar 50 usd'],
    ['es', 'quiero que me paguen 50 usd'],
    ['es', 'no quiero pagar 50 usd'],
    ['pt', 'já paguei 50 reais'],
    ['pt', 'como faço para pagar 50 reais?'],
  ])('%s: is not "%s"', (language, text) => expect(argumentsFor(text, language)).toBeNull());
});

describe('money in a text', () => {
  it.each<[Language, string, readonly [number, string][]]>([
    ['en', '$50 USD and usd 50', [[50, 'usd']]],
    ['en', '$50 MXN', [[50, 'mxn']]],
    [
      'en',
      '1,234.50 EUR, 3 kwd and ¥5',
      [
        [1234.5, 'eur'],
        [3, 'kwd'],
      ],
    ],
    [
      'es',
      '1.234,50 € y US$ 7',
      [
        [1234.5, 'eur'],
        [7, 'usd'],
      ],
    ],
    ['en', '50 all the 20 pen', []],
    ['en', 'order 4455, room 12, 50%', []],
  ])('%s: %s', (language, text, money) =>
    expect(moneyIn(text, language).map(({ amount, currency }) => [amount, currency])).toEqual(
      money,
    ),
  );

  it('is found in a long hostile text in no time', () => {
    const start = performance.now();
    for (const part of ['9,9.', 'usd ', '$ $ ', '1 mil', '$1.1.1 '])
      moneyIn(part.repeat(4000), 'en');
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe('the keyword agent in the loop', () => {
  let agent: AgentService;
  beforeAll(async () => {
    agent = await startAgentService({
      env: { LLM_BASE_URL: undefined, LLM_API_KEY: undefined, LLM_MODEL: undefined },
    });
    await agent.service.api.patch('/api/agent', { enabled: true });
    await setUpManual(agent.service);
  });
  afterAll(() => agent?.close());

  const linksOf = async ({ id }: Talk) =>
    (await agent.service.api.get(`/api/payment-links?conversation_id=${id}`)).body.data;
  const approve = async (talk: Talk) => {
    const call = await talk.call(({ status }) => status === 'pending_approval');
    await agent.service.api.post(`/api/tool-calls/${call.tool_call_id}/approve`, {});
  };

  it.each<[Language, string, (url: string) => string]>([
    [
      'en',
      'Hello, I want to pay 50 dollars for the demo',
      (url) => `Here you can pay US$50.00 (the demo):\n${url}`,
    ],
    [
      'es',
      'Hola, quiero pagar 50 dólares por la demostración',
      (url) => `Aquí puede pagar US$50.00 (la demostración):\n${url}`,
    ],
    [
      'pt',
      'Olá, quero pagar 50 reais pela demonstração',
      (url) => `Aqui você pode pagar R$50.00 (demonstração):\n${url}`,
    ],
  ])('%s: a person approves, and the customer gets the link', async (language, words, reply) => {
    const talk = await agent.talk(words);
    expect(await talk.reply()).toBe(SENTENCES.waitingForApproval[language]);
    expect(await linksOf(talk)).toEqual([]);
    await approve(talk);
    const told = await talk.reply(2);
    const [link] = await linksOf(talk);
    expect(told).toBe(reply(link.url));
    expect(await talk.record()).toMatchObject({ funnel_stage: 'payment_pending' });
  });

  it('a person decides even where the agent may make links by itself: here the customer names the price', async () => {
    await agent.service.api.patch('/api/agent', { payment_links: 'allow' });
    try {
      const talk = await agent.talk('I want to pay 1 dollar for the car');
      expect(await talk.reply()).toBe(SENTENCES.waitingForApproval.en);
      expect(await talk.calls()).toMatchObject([
        {
          status: 'pending_approval',
          arguments: { amount: 1, currency: 'usd', description: 'the car' },
        },
      ]);
      expect(await linksOf(talk)).toEqual([]);
    } finally {
      await agent.service.api.patch('/api/agent', { payment_links: 'ask' });
    }
  });

  it('what is no clear request is handed over, and so is a clear one where links are off', async () => {
    const vague = await agent.talk('I want to pay');
    await vague.reply();
    expect(await vague.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'missing_knowledge' },
    });
    await agent.service.api.patch('/api/agent', { payment_links: 'off' });
    try {
      const off = await agent.talk('I want to pay 50 dollars');
      await off.reply();
      expect(await off.record()).toMatchObject({ status: 'awaiting_human' });
      expect(await off.calls()).toEqual([]);
    } finally {
      await agent.service.api.patch('/api/agent', { payment_links: 'ask' });
    }
  });

  it("the team's own tool for paying comes first", async () => {
    const parameters = {
      type: 'object',
      properties: { amount: { type: 'number' } },
      required: ['amount'],
    };
    const id = await agent.tool('pay_invoice', {
      description: 'Pays an invoice.',
      parameters: { ...parameters, properties: { amount: { type: ['number', 'string'] } } },
    });
    agent.tools.on('pay_invoice', answers({ message: 'Paid by the tool.' }));
    const talk = await agent.talk('I want to pay 50 dollars');
    expect(await talk.reply()).toBe('Paid by the tool.');
    await agent.service.api.delete(`/api/tools/${id}`);
  });

  it('never says twice where to pay, nor closes before a person has decided', async () => {
    const talk = await agent.talk('I want to pay 50 dollars for the demo');
    await talk.reply();
    await talk.write('thanks, bye');
    await talk.reply(2);
    expect(await talk.record()).toMatchObject({ status: 'ai_active', pending_approvals: 1 });
    await approve(talk);
    expect(await talk.reply(3)).toContain('/pay/');
    await talk.write('thank you');
    await talk.reply(4);
    expect((await talk.replies()).filter((words) => words.includes('/pay/'))).toHaveLength(1);
  });
});
