// The agent makes payment links: a language model asks for one, a person or the settings decide,
// the customer gets it and pays.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { text, toolCalls, type ModelRequest } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { allDelivered, setUpManual, subscribeToPayments } from '../payments/support.ts';
import {
  inOrder,
  resultsIn,
  startAgentService,
  type AgentService,
  type Talk,
} from './agentService.ts';

const NAME = 'create-payment-link';
const DEMO = { amount: 49, currency: 'USD', description: 'Demo, one hour' };
const URL_OF_LINK = /https?:\/\/[^\s"\\]+\/pay\/[A-Za-z0-9_-]{32}/;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are held against the contract by the client
type Json = any;

const wants = (args: unknown = DEMO, name = NAME) => toolCalls({ name, arguments: args });
const urlIn = ({ body }: ModelRequest) => URL_OF_LINK.exec(JSON.stringify(body.messages))?.[0];

describe('the agent and payment links', () => {
  let receiver: EventReceiver;
  let agent: AgentService;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    agent = await startAgentService({ ca: receiver.ca });
    await setUpManual(agent.service);
    await subscribeToPayments(receiver, agent.service);
  });
  beforeEach(async () => {
    agent.reset();
    await setPolicy('ask');
  });
  afterAll(async () => {
    await agent?.close();
    await receiver?.close();
    expect(agent.model.faults).toEqual([]);
  });

  const setPolicy = (payment_links: string) =>
    agent.service.api.patch('/api/agent', { payment_links });
  const linksOf = async ({ id }: Talk): Promise<Json[]> =>
    (await agent.service.api.get(`/api/payment-links?conversation_id=${id}`)).body.data;
  /** What the service itself says of the link of a talk. */
  const sentenceFor = async (talk: Talk) =>
    `Here you can pay US$49.00 (Demo, one hour):\n${(await linksOf(talk))[0].url}`;
  const eventsOf = ({ id }: Talk, event: string) =>
    receiver.payloads(event).filter(({ conversation }) => conversation.id === id);
  const decide = (call: Json, verb: 'approve' | 'reject', body = {}) =>
    agent.service.api.post(`/api/tool-calls/${call.tool_call_id}/${verb}`, body);
  const isOffered = (request = agent.model.requests.at(-1)!) =>
    request.body.tools!.map((tool) => tool.function.name).includes(NAME);
  /** The model asks for a link at once, and says these words as soon as it has its address. */
  const sells = (args: unknown = DEMO, words = (url: string) => `Please pay here: ${url}`) =>
    agent.model.answerBy((request) => {
      const url = urlIn(request);
      return url === undefined ? wants(args) : text(words(url));
    });
  const withStripe = async (act: () => Promise<void>) => {
    const path = '/api/payment-accounts/stripe';
    const settings = { secret_key: 'sk_test_0123456789' };
    expect((await agent.service.api.put(path, { settings })).status).toBe(200);
    try {
      await act();
    } finally {
      await agent.service.api.delete(path);
    }
  };
  const waiting = async () => {
    sells();
    const talk = await agent.talk('I take the demo.');
    expect(await talk.reply()).toBe(SENTENCES.waitingForApproval.en);
    return { talk, call: await talk.call(({ status }) => status === 'pending_approval') };
  };

  it('ask: nothing is made before a person approves; then the customer gets the link, pays, and each event comes once', async () => {
    const { talk, call } = await waiting();
    expect(call).toMatchObject({
      tool: NAME,
      arguments: { amount: 49, currency: 'usd', description: 'Demo, one hour' },
      conversation_id: talk.id,
      result: null,
      expires_at: expect.any(String),
    });
    expect(await linksOf(talk)).toEqual([]);
    expect(await talk.record()).toMatchObject({ pending_approvals: 1, funnel_stage: 'new' });

    expect((await decide(call, 'approve')).status).toBe(200);
    const words = await talk.reply(2);
    const [link, ...others] = await linksOf(talk);
    expect(others).toEqual([]);
    expect(link).toMatchObject({
      status: 'open',
      amount: 4900,
      currency: 'usd',
      description: 'Demo, one hour',
      provider: 'manual',
      created_by: { type: 'agent', name: 'Assistant' },
    });
    expect(words).toBe(`Please pay here: ${link.url}`);
    expect(await talk.call(({ status }) => status === 'succeeded')).toMatchObject({
      attempts: 0,
      http_status: null,
      decision: { approved: true },
      result: {
        payment_link_id: link.id,
        url: link.url,
        amount: 49,
        currency: 'usd',
        amount_display: 'US$49.00',
        description: 'Demo, one hour',
        expires_at: link.expires_at,
      },
    });
    expect(await talk.record()).toMatchObject({
      pending_approvals: 0,
      funnel_stage: 'payment_pending',
    });

    await agent.service.api.post(`/api/payment-links/${link.id}/mark-paid`, {});
    await waitFor('payment.paid', () => eventsOf(talk, 'payment.paid')[0]);
    await allDelivered(agent.service);
    expect(eventsOf(talk, 'payment.paid')).toMatchObject([
      { payment: { id: link.id, amount: 4900, status: 'paid' } },
    ]);
    expect(eventsOf(talk, 'conversation.qualified')).toHaveLength(1);
    expect(await talk.record()).toMatchObject({ funnel_stage: 'customer' });
    expect(receiver.faults).toEqual([]);
  });

  it('a rejection is told honestly, and no link is made', async () => {
    const { talk, call } = await waiting();
    await decide(call, 'reject', { note: 'No discount.' });
    expect(await talk.reply(2)).toBe(SENTENCES.approvalRejected.en);
    expect(await linksOf(talk)).toEqual([]);
    expect(await talk.record()).toMatchObject({ funnel_stage: 'new' });
  });

  it('another message of the customer does not cancel the approval, and the same link is not asked for twice', async () => {
    const { talk, call } = await waiting();
    agent.model.answerBy(
      inOrder(wants({ ...DEMO, currency: 'usd' }), text('A colleague is looking at it.')),
    );
    await talk.write('How long will it take?');
    expect(await talk.reply(2)).toBe('A colleague is looking at it.');
    sells();
    await decide(call, 'approve');
    expect(await talk.reply(3)).toMatch(URL_OF_LINK);
    expect(await linksOf(talk)).toHaveLength(1);
  });

  it('a second request for a link gives the one that can still be paid, and nobody decides again; once that is cancelled, a new link waits for approval', async () => {
    const { talk, call } = await waiting();
    await decide(call, 'approve');
    await talk.reply(2);
    const [link] = await linksOf(talk);
    agent.model.answerBy(
      inOrder(wants({ ...DEMO, description: 'demo, One hour' }), text('Again: pay there.')),
    );
    await talk.write('I lost the link.');
    expect(await talk.reply(3)).toBe(`Again: pay there.\n\n${await sentenceFor(talk)}`);
    expect(await linksOf(talk)).toHaveLength(1);
    expect((await talk.calls()).at(-1)).toMatchObject({
      status: 'succeeded',
      decision: null,
      result: { payment_link_id: link.id },
    });

    await agent.service.api.post(`/api/payment-links/${link.id}/cancel`, {});
    agent.model.answerBy(inOrder(wants()));
    await talk.write('And again?');
    expect(await talk.reply(4)).toBe(SENTENCES.waitingForApproval.en);
  });

  it('a close ends the wait for approval', async () => {
    const { talk, call } = await waiting();
    await talk.act('close');
    expect((await talk.calls())[0]).toMatchObject({ status: 'cancelled' });
    expect((await decide(call, 'approve')).body.error.code).toBe('approval_already_decided');
    expect(await linksOf(talk)).toEqual([]);
  });

  it('approved while a person is in control: the customer gets the link at the hand-back', async () => {
    const { talk, call } = await waiting();
    await talk.act('messages');
    await decide(call, 'approve');
    await talk.call(({ status }) => status === 'succeeded');
    const [link] = await linksOf(talk);
    expect(await talk.replies()).toHaveLength(1);
    await talk.act('handback');
    expect(await talk.reply(2)).toContain(link.url);
  });

  it('when links are switched off, a call that waits for approval is cancelled and the customer is told', async () => {
    const { talk } = await waiting();
    await setPolicy('off');
    expect(await talk.reply(2)).toBe(SENTENCES.toolFailed.en);
    expect((await talk.calls())[0]).toMatchObject({ status: 'cancelled' });
    expect(await linksOf(talk)).toEqual([]);
  });

  it('allow: the link is made at once, and the call shows no decision', async () => {
    await setPolicy('allow');
    sells();
    const talk = await agent.talk('I take the demo.');
    const words = await talk.reply();
    const [link] = await linksOf(talk);
    expect(words).toBe(`Please pay here: ${link.url}`);
    expect(await talk.calls()).toMatchObject([{ tool: NAME, status: 'succeeded', decision: null }]);
  });

  it('the tool is offered, with its rules, unless the policy is off', async () => {
    const talk = await agent.talk('hello');
    await talk.reply();
    expect(isOffered()).toBe(true);
    expect(agent.model.requests.at(-1)!.body.messages[0]!.content).toContain(
      `Call ${NAME} only when the customer has agreed to pay`,
    );
    await setPolicy('off');
    await talk.write('hello?');
    await talk.reply(2);
    expect(isOffered()).toBe(false);
    expect(agent.model.requests.at(-1)!.body.messages[0]!.content).not.toContain(NAME);
  });

  it('off: a model that calls it all the same is told that there is no such tool, and nothing is made', async () => {
    await setPolicy('off');
    agent.model.answerBy(inOrder(wants(), text('I cannot do that.')));
    const talk = await agent.talk('I take the demo.');
    expect(await talk.reply()).toContain('I cannot do that.');
    expect(resultsIn(agent.asked().at(-1)!)).toMatchObject([
      { status: 'invalid', message: expect.stringContaining('no such tool') },
    ]);
    expect(await linksOf(talk)).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'more decimals than yen have',
      { ...DEMO, amount: 49.5, currency: 'JPY' },
      /amount must be an amount of JPY/,
    ],
    [
      'more decimals than dollars have',
      { ...DEMO, amount: 49.999 },
      /amount must be an amount of USD/,
    ],
    ['nothing', { ...DEMO, amount: 0 }, /amount/],
    ['less than nothing', { ...DEMO, amount: -5 }, /amount/],
    ['too much', { ...DEMO, amount: 1e12 }, /amount must be/],
    ['an amount as text', { ...DEMO, amount: '49' }, /amount must be/],
    ['no currency', { ...DEMO, currency: 'XXX' }, /currency must be a currency of ISO 4217/],
    ['a name for a currency', { ...DEMO, currency: 'dollars' }, /currency/],
    ['an empty description', { ...DEMO, description: '  ' }, /description/],
    ['too long a description', { ...DEMO, description: 'd'.repeat(201) }, /description/],
    ['arguments that are no object', '"49 USD"', /not a JSON object/],
  ])(
    '%s is refused before a person is asked, and the model corrects it',
    async (_what, args, problem) => {
      agent.model.answerBy(inOrder(wants(args), wants()));
      const talk = await agent.talk('I take the demo.');
      expect(await talk.reply()).toBe(SENTENCES.waitingForApproval.en);
      expect(resultsIn(agent.asked().at(-1)!)).toMatchObject([
        { status: 'invalid', message: expect.stringMatching(problem) },
      ]);
      expect(await talk.calls()).toMatchObject([
        { status: 'failed', error: { type: 'invalid_arguments' } },
        { status: 'pending_approval' },
      ]);
      expect(await talk.record()).toMatchObject({ pending_approvals: 1 });
    },
  );

  it.each([
    [4900, 'JPY', 4900, 'JP¥4,900'],
    [4.9, 'KWD', 4900, 'KWD 4.900'],
    [0.29, 'eur', 29, '€0.29'],
    [1.005, 'BHD', 1005, 'BHD 1.005'],
    [9999999999.99, 'usd', 999999999999, 'US$9,999,999,999.99'],
  ])('%d %s is %d in minor units, exactly', async (amount, currency, minor, display) => {
    await setPolicy('allow');
    sells({ ...DEMO, amount, currency });
    const talk = await agent.talk('I take it.');
    await talk.reply();
    expect(await linksOf(talk)).toMatchObject([
      { amount: minor, currency: currency.toLowerCase() },
    ]);
    const [{ result }] = await talk.calls();
    expect(result.amount_display.replaceAll('\u00a0', ' ')).toBe(display);
  });

  it('a link that the model leaves out, or misspells, is given in a sentence of the service', async () => {
    await setPolicy('allow');
    sells(DEMO, () => 'Your link is ready.');
    const forgotten = await agent.talk('I take the demo.');
    expect(await forgotten.reply()).toBe(`Your link is ready.\n\n${await sentenceFor(forgotten)}`);
    sells(DEMO, (url) => `Pay at ${url}x`);
    const misspelt = await agent.talk('I take the demo.');
    expect((await misspelt.reply()).endsWith(await sentenceFor(misspelt))).toBe(true);
  });

  it('a link at the end of a far too long reply reaches the customer whole', async () => {
    await setPolicy('allow');
    const before = 'This demo is very good. '.repeat(170);
    sells(DEMO, (url) => `${before}Pay here: ${url} Bye. ${'It is. '.repeat(100)}`);
    const talk = await agent.talk('I take the demo.');
    const words = await talk.reply();
    const [link] = await linksOf(talk);
    expect([...words].length).toBeLessThanOrEqual(4096);
    expect(words.split(/\s/)).toContain(link.url);
  });

  it('a customer who asks for a person is told of a link that was made in between', async () => {
    const { talk, call } = await waiting();
    await talk.write('I want to talk to a person');
    expect(await talk.reply(2)).toContain('I am passing you to a person');
    await decide(call, 'approve');
    expect(await talk.reply(3)).toBe(await sentenceFor(talk));
  });

  it('the provider is removed while a person thinks: the call fails in words, and the customer is told', async () => {
    const { talk, call } = await waiting();
    await agent.service.api.delete('/api/payment-accounts/manual');
    try {
      agent.model.answerBy(() => text('Sorry.'));
      await decide(call, 'approve');
      expect(await talk.reply(2)).toBe(SENTENCES.toolFailed.en);
      expect((await talk.calls())[0]).toMatchObject({
        status: 'failed',
        error: { type: 'refused', message: expect.stringContaining('manual is not set up') },
        decision: { approved: true },
      });
      expect(await linksOf(talk)).toEqual([]);

      await talk.write('hello?');
      await talk.reply(3);
      expect(isOffered()).toBe(false);
    } finally {
      await setUpManual(agent.service);
    }
  });

  it('another provider that is set up while a person thinks does not get the money: what was approved is what is made', async () => {
    const { talk, call } = await waiting();
    await withStripe(async () => {
      await decide(call, 'approve');
      await talk.reply(2);
      expect(await linksOf(talk)).toMatchObject([{ provider: 'manual' }]);
    });
  });

  it('what Stripe does not take is refused before a person is asked', async () => {
    await withStripe(async () => {
      agent.model.answerBy(
        inOrder(wants({ ...DEMO, amount: 1.005, currency: 'KWD' }), text('Let me look.')),
      );
      const talk = await agent.talk('I pay in dinars.');
      await talk.reply();
      expect((await talk.calls())[0]).toMatchObject({
        status: 'failed',
        error: { type: 'invalid_arguments', message: expect.stringContaining('amount') },
      });
      expect(await talk.record()).toMatchObject({ pending_approvals: 0 });
    });
  });

  it('a name with an underscore is understood, unless a tool of the team has it', async () => {
    await setPolicy('allow');
    agent.model.answerBy((request) => {
      const url = urlIn(request);
      return url === undefined ? wants(DEMO, 'create_payment_link') : text(url);
    });
    const talk = await agent.talk('I take the demo.');
    await talk.reply();
    expect(await linksOf(talk)).toHaveLength(1);
    await agent.tool('create_payment_link');
    agent.model.answerBy(inOrder(wants({}, 'create_payment_link'), text('Done by the team.')));
    const other = await agent.talk('I take the demo.');
    expect(await other.reply()).toBe('Done by the team.');
    expect(agent.tools.calls).toMatchObject([{ tool: 'create_payment_link' }]);
    expect(await linksOf(other)).toEqual([]);
  });

  it('details of the contact stay masked in what is paid for', async () => {
    await setPolicy('allow');
    const email = 'maria@example.com';
    sells({ ...DEMO, description: 'Demo for m••••@e••••••.com' });
    const talk = await agent.talk('I take the demo.', { email });
    await talk.reply();
    expect(await linksOf(talk)).toMatchObject([{ description: 'Demo for m••••@e••••••.com' }]);
    const [{ url }] = await linksOf(talk);
    const answer = await fetch(url.replace(/^https?:\/\/[^/]+/, agent.service.url));
    const page = await answer.text();
    expect(page).toContain('m••••@e••••••.com');
    expect(page).not.toContain(email);
  });
});
