// The keyword agent and payment links: one amount, repeated to the customer, and never without a
// person.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Language } from '../../../../service/src/agent/agentModel.ts';
import { asksToPay, moneyIn, readPayment } from '../../../../service/src/agent/keyword/payment.ts';
import { sentence, SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { setUpManual } from '../../payments/support.ts';
import {
  answers,
  KEYWORD_ONLY,
  startAgentService,
  type AgentService,
  type Talk,
} from '../agentService.ts';
import { cpuMsOf } from '../../../helpers/cpuTime.ts';

const read = (text: string, language: Language) =>
  readPayment([{ text, asked: null, isCorrection: false }], language);

describe('a request to pay', () => {
  it.each<[Language, string, number, string, string]>([
    ['en', 'hi, I would like to pay $49.90 for the demo please', 49.9, 'usd', 'the demo'],
    ['en', 'a payment link for 1,500.50 euros for the bike', 1500.5, 'eur', 'the bike'],
    ['en', 'I want to pay JPY 4900 for the course', 4900, 'jpy', 'the course'],
    ['en', 'I want to pay 50 dollars for my order 4455', 50, 'usd', 'my order 4455'],
    ['es', 'quisiera pagar 50 dólares por la clase', 50, 'usd', 'la clase'],
    ['es', 'Hola, necesito pagar 200 pesos mexicanos por el taller', 200, 'mxn', 'el taller'],
    ['es', 'quiero pagar ya 50 dólares por la clase', 50, 'usd', 'la clase'],
    ['pt', 'quero pagar R$ 49,90 pela aula', 49.9, 'brl', 'aula'],
    ['pt', 'quero pagar já 50 reais no cartão pela aula', 50, 'brl', 'aula'],
    ['pt', 'gostaria de pagar 100 dólares pelo curso, por favor', 100, 'usd', 'curso'],
  ])('%s: %s', (language, text, amount, currency, description) => {
    expect(asksToPay(text, language)).toBe(true);
    expect(read(text, language)).toMatchObject({
      arguments: { amount, currency, description },
      missing: null,
    });
  });

  it('ends a purpose that is too long with an ellipsis', () => {
    const purpose = 'the big room with a view of the sea '.repeat(4).trim();
    const { arguments: args } = read(`I want to pay 50 dollars for ${purpose} please`, 'en');
    expect(args.description).toBe(`${purpose.slice(0, 99).trimEnd()}…`);
  });

  it('finds the purpose far behind an amount', () => {
    const between = 'as we agreed with your colleague '.repeat(4);
    const text = `I want to pay for 50 dollars ${between} for the demo`;
    expect(read(text, 'en').arguments).toMatchObject({ amount: 50, description: 'the demo' });
  });

  it.each<[Language, string]>([
    ['en', 'I want to pay'],
    ['en', 'I want to pay my invoice 4455'],
    ['en', 'I want to pay 50'],
    ['en', 'I want to pay $50k'],
    ['en', 'I want to pay 50 dollars or 60 dollars'],
    ['en', 'I want to pay -50 usd'],
    ['en', 'I want to pay 0 dollars'],
    ['en', 'I want to pay 49.999 dollars'],
    ['en', 'I want to pay 50 canadian dollars'],
    ['es', 'quiero pagar $50'],
    ['es', 'quiero pagar 50 pesos'],
    ['es', 'quiero pagar 50 mil dólares'],
  ])('%s: asks for the amount after "%s"', (language, text) =>
    expect(read(text, language).missing?.(language)).toBe(sentence('paymentAmount', language)),
  );

  it('asks what the payment is for', () =>
    expect(read('I want to pay 50 dollars', 'en').missing?.('en')).toBe('what the payment is for'));

  it.each<[Language, string]>([
    ['en', 'I paid 50 dollars already'],
    ['en', 'I do not want to pay 50 dollars'],
    ['en', 'it costs 50 dollars'],
    ['en', 'I want to buy a bike for 50 dollars'],
    ['es', 'ya pagué 50 usd'],
    ['es', 'no quiero pagar 50 usd'],
    ['pt', 'já paguei 50 reais'],
  ])('%s: is not made by "%s"', (language, text) => expect(asksToPay(text, language)).toBe(false));
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

  it('is looked for in a long hostile text in bounded time', () => {
    const cpuMs = cpuMsOf(() => {
      for (const part of ['9,9.', 'usd ', '$ $ ', '1 mil', '$1.1.1 '])
        moneyIn(part.repeat(4000), 'en');
    });
    expect(cpuMs).toBeLessThan(5000);
  });
});

describe('the keyword agent in the loop', () => {
  let agent: AgentService;
  beforeAll(async () => {
    agent = await startAgentService({ env: KEYWORD_ONLY });
    await setUpManual(agent.service);
  });
  afterAll(() => agent?.close());
  beforeEach(() => setPolicy('ask'));

  const setPolicy = (payment_links: string) =>
    agent.service.api.patch('/api/agent', { payment_links });
  const linksOf = async ({ id }: Talk) =>
    (await agent.service.api.get(`/api/payment-links?conversation_id=${id}`)).body.data;

  it.each<[Language, string, string, (url: string) => string]>([
    [
      'en',
      'Hello, I want to pay 50 dollars for the demo',
      'Shall I make a payment link for US$50.00 (the demo)?',
      (url) => `Here you can pay US$50.00 (the demo):\n${url}`,
    ],
    [
      'es',
      'Hola, quiero pagar 50 dólares por la demostración',
      '¿Hago esto: crear un enlace de pago por US$50.00 (la demostración)?',
      (url) => `Aquí puede pagar US$50.00 (la demostración):\n${url}`,
    ],
    [
      'pt',
      'Olá, quero pagar 50 reais pela demonstração',
      'Devo fazer isto: criar um link de pagamento de R$50.00 (demonstração)?',
      (url) => `Aqui você pode pagar R$50.00 (demonstração):\n${url}`,
    ],
  ])(
    '%s: the customer says yes, a person approves, and the customer gets the link',
    async (language, words, question, reply) => {
      const talk = await agent.talk(words);
      expect(await talk.reply()).toContain(question);
      expect(await talk.calls()).toEqual([]);
      await talk.write({ en: 'yes', es: 'sí', pt: 'sim' }[language]);
      expect(await talk.reply(2)).toBe(SENTENCES.waitingForApproval[language]);
      expect(await linksOf(talk)).toEqual([]);
      await talk.decide('approve');
      const told = await talk.reply(3);
      const [link] = await linksOf(talk);
      expect(told).toBe(reply(link.url));
      expect(await talk.record()).toMatchObject({ funnel_stage: 'payment_pending' });
    },
  );

  it('a person decides even where the agent may make links by itself: here the customer names the price', async () => {
    await setPolicy('allow');
    const talk = await agent.talk('I want to pay 1 dollar for the car');
    await talk.reply();
    await talk.write('yes');
    expect(await talk.reply(2)).toBe(SENTENCES.waitingForApproval.en);
    expect(await talk.calls()).toMatchObject([
      {
        status: 'pending_approval',
        arguments: { amount: 1, currency: 'usd', description: 'the car' },
      },
    ]);
    expect(await linksOf(talk)).toEqual([]);
  });

  it('asks back for amount and purpose, and makes no link on a no', async () => {
    const talk = await agent.talk('I want to pay');
    expect(await talk.reply()).toContain('the amount and the currency');
    await talk.write('50 dollars');
    expect(await talk.reply(2)).toContain('what the payment is for');
    await talk.write('the demo');
    expect(await talk.reply(3)).toContain('make a payment link for US$50.00 (the demo)?');
    await talk.write('no');
    expect(await talk.reply(4)).toBe(SENTENCES.allRight.en);
    expect(await talk.calls()).toEqual([]);
  });

  it('a request to pay is handed over where links are off', async () => {
    await setPolicy('off');
    const talk = await agent.talk('I want to pay 50 dollars');
    await talk.reply();
    expect(await talk.record()).toMatchObject({ status: 'awaiting_human' });
    expect(await talk.calls()).toEqual([]);
  });

  it("the team's own tool for paying comes first", async () => {
    const id = await agent.tool('pay_invoice', {
      description: 'Pays an invoice.',
      parameters: {
        type: 'object',
        // A string too: the call that tests the tool passes one.
        properties: { amount: { type: ['number', 'string'] } },
        required: ['amount'],
      },
    });
    agent.tools.on('pay_invoice', answers({ message: 'Paid by the tool.' }));
    const talk = await agent.talk('I want to pay 50 dollars');
    expect(await talk.reply()).toBe('Paid by the tool.');
    await agent.service.api.delete(`/api/tools/${id}`);
  });

  it('never says twice where to pay, nor closes before a person has decided', async () => {
    const talk = await agent.talk('I want to pay 50 dollars for the demo');
    await talk.reply();
    await talk.write('yes');
    await talk.reply(2);
    await talk.write('thanks, bye');
    await talk.reply(3);
    expect(await talk.record()).toMatchObject({ status: 'ai_active', pending_approvals: 1 });
    await talk.decide('approve');
    expect(await talk.reply(4)).toContain('/pay/');
    await talk.write('thank you');
    await talk.reply(5);
    expect((await talk.replies()).filter((words) => words.includes('/pay/'))).toHaveLength(1);
  });
});
