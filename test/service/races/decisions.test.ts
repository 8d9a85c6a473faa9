// What is decided once: approvals, payments, invitations, the first set-up.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../helpers/apiClient.ts';
import {
  browserless,
  MEMBER,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import {
  ask,
  callIn,
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import {
  allDelivered,
  makeLink,
  newConversation,
  setUpManual,
  stageOf,
} from '../payments/support.ts';
import { atOnce, rounds, sides, upTo } from './sides.ts';

describe('a tool call that waits for a decision', () => {
  let endpoint: ToolEndpoint;
  let tool: DefinedTool;
  beforeAll(async () => {
    endpoint = await startToolEndpoint();
  });
  const service = sides({ ca: () => endpoint.ca, env: () => TOOL_TEST_ENV });
  beforeAll(async () => {
    tool = await endpoint.define(
      service.api,
      { name: 'find_order', ask_before_running: true },
      '/find_order',
    );
    await makeLive(service.api, tool);
    endpoint.forget();
  });
  afterAll(() => endpoint?.close());

  const waitingCall = async () => {
    const { conversationId } = await ask(service.url, tool);
    const query = `conversation_id=${conversationId}`;
    const { tool_call_id: id } = await callIn(service.api, query, 'pending_approval');
    return {
      decide: (verb: 'approve' | 'reject') => service.api.post(`/api/tool-calls/${id}/${verb}`, {}),
      takeOver: () => service.api.post(`/api/conversations/${conversationId}/takeover`, {}),
      /** Waits until it is in that status; it was made once if it succeeded, else never. */
      async end(status: 'succeeded' | 'rejected' | 'cancelled') {
        const call = await callIn(service.api, query, status);
        const made = endpoint.envelopes(tool.path).filter((each) => each.tool_call_id === id);
        expect(made).toHaveLength(status === 'succeeded' ? 1 : 0);
        const { body } = await service.api.get(`/api/conversations/${conversationId}`);
        expect(body.pending_approvals).toBe(0);
        return call;
      },
    };
  };

  it('is decided by the first of several people', async () => {
    for (const _ of rounds(8)) {
      const { decide, end } = await waitingCall();
      const verbs = ['approve', 'reject', 'approve', 'reject'] as const;
      const answers = await atOnce(verbs.length, (n) => decide(verbs[n]!));
      const refused = answers.filter(({ status }) => status === 409);
      expect(refused.map(({ body }) => body.error.code)).toEqual(
        Array(3).fill('approval_already_decided'),
      );
      const isApproved = verbs[answers.findIndex(({ status }) => status === 200)] === 'approve';
      const { decision } = await end(isApproved ? 'succeeded' : 'rejected');
      expect(decision.approved).toBe(isApproved);
    }
  });

  it('either runs or is cancelled when it is approved at the moment of a take-over', async () => {
    for (const _ of rounds(8)) {
      const { decide, takeOver, end } = await waitingCall();
      const [approved, taken] = await Promise.all([decide('approve'), takeOver()]);
      expect(taken.status).toBe(200);
      expect([200, 409]).toContain(approved.status);
      await end(approved.status === 200 ? 'succeeded' : 'cancelled');
    }
  });
});

describe('a payment link', () => {
  let receiver: EventReceiver;
  beforeAll(async () => {
    receiver = await startEventReceiver();
  });
  const service = sides({ ca: () => receiver.ca, env: () => MEMBER_ENV });
  beforeAll(async () => {
    await setUpManual(service);
    for (const event of ['conversation.qualified', 'payment.paid'])
      await receiver.subscribe(service, event);
  });
  afterAll(() => receiver?.close());

  it('is either paid once or cancelled, never both, when two people do both at once', async () => {
    for (const _ of rounds(8)) {
      const conversationId = await newConversation(service);
      const { id } = await makeLink(service, conversationId);
      const paid = () => service.api.post(`/api/payment-links/${id}/mark-paid`, {});
      const answers = await Promise.all([
        paid(),
        service.api.post(`/api/payment-links/${id}/cancel`, {}),
        paid(),
        paid(),
      ]);
      const { status } = (await service.api.get(`/api/payment-links/${id}`)).body;
      const expected = status === 'paid' ? [200, 409, 200, 200] : [409, 200, 409, 409];
      expect(answers.map((answer) => answer.status)).toEqual(expected);
      await allDelivered(service);
      const ids = new Set(
        receiver
          .payloads('payment.paid')
          .filter(({ payment }) => payment.id === id)
          .map((payload) => payload.id),
      );
      expect(ids.size).toBe(status === 'paid' ? 1 : 0);
      expect(await stageOf(service, conversationId)).toBe(
        status === 'paid' ? 'customer' : 'payment_pending',
      );
    }
  });

  it('is not sent any more once it was cancelled, when one member does this and another that at once', async () => {
    const [canceller, sender] = [
      await signedInBrowser(service.url),
      await signedInBrowser(service.url),
    ];
    for (const _ of rounds(16)) {
      const conversationId = await newConversation(service);
      const { id } = await makeLink(service, conversationId);
      const path = `/conversations/${conversationId}`;
      for (const browser of [canceller, sender]) await browser.get(path);
      const [, { text }] = await Promise.all([
        canceller.post(`${path}/payments/${id}/cancel`),
        sender.post(`${path}/payments/${id}/send`, { after: '1' }),
      ]);
      const link = (await service.api.get(`/api/payment-links/${id}`)).body;
      const { messages } = (await service.api.get(`/api${path}?messages=10`)).body;
      const [sent] = messages.slice(1);
      expect(link.status).toBe('cancelled');
      if (sent) expect(sent.created_at <= link.updated_at).toBe(true);
      expect(text).toContain(
        sent
          ? 'Payment link sent to the customer.'
          : 'This payment link was already paid or has ended.',
      );
    }
  });
});

describe('the team', () => {
  const service = sides({ env: () => MEMBER_ENV });
  let ana: Browserless;
  beforeAll(async () => {
    ana = await signedInBrowser(service.url);
  });
  const person = (name: string) => ({
    name,
    email: `${name}@example.com`,
    password: 'another long password',
  });

  it('is one workspace with one key, also when several processes start at once', async () => {
    const { text } = await ana.get('/team');
    expect(text.split(MEMBER.email)).toHaveLength(2);
    expect((await service.api.get('/api/hooks')).status).toBe(200);
  });

  const invite = async () => {
    await ana.get('/team');
    const { html } = await ana.post('/team/invites', { note: 'Somebody', role: 'owner' });
    return /join\?token=([\w-]+)/.exec(html)![1]!;
  };

  it('takes one person in by one invitation', async () => {
    for (const round of rounds(5)) {
      const token = await invite();
      const answers = await atOnce(4, (n) =>
        browserless(service.url).post('/join', { token, ...person(`guest-${round}-${n}`) }),
      );
      expect(answers.filter(({ path }) => path === '/overview')).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 404)).toHaveLength(3);
    }
  });

  it('takes in one of two people who join with the same address', async () => {
    for (const round of rounds(5)) {
      const tokens = [await invite(), await invite()];
      const answers = await atOnce(2, (n) =>
        browserless(service.url).post('/join', { token: tokens[n]!, ...person(`twin-${round}`) }),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      const refused = answers.find(({ status }) => status === 400)!;
      expect(refused.problem('email')).toMatch(/^There is already a member with this e-mail/);
    }
  });
});

describe('the set-up link', () => {
  const service = sides({ env: () => ({ BOOTSTRAP_API_KEY: '', BOOTSTRAP_WORKSPACE: '' }) });

  it('of each process works, and only one of them can be used', async () => {
    const links = service.setupUrls;
    expect(new Set(links).size).toBe(links.length);
    const tokens = links.map((link) => new URL(link).searchParams.get('token')!);
    const post = (token: string, n: number) =>
      fetch(`${service.url}/setup`, {
        method: 'POST',
        body: new URLSearchParams({
          token,
          workspace: 'Acme',
          name: `Ana ${n}`,
          email: `ana${n}@example.com`,
          password: 'correct horse battery',
        }),
      });
    for (const token of tokens)
      for (const _ of upTo(2))
        expect((await fetch(`${service.url}/setup?token=${token}`)).status).toBe(200);
    const answers = await atOnce(4, (n) => post(tokens[n % tokens.length]!, n));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404]);
    const key = /cs_live_[0-9A-Za-z]{32}/.exec(
      await answers.find(({ status }) => status === 201)!.text(),
    )![0];
    expect((await apiClient(service.url, key).get('/api/hooks')).status).toBe(200);
    for (const token of tokens)
      expect((await fetch(`${service.url}/setup?token=${token}`)).status).toBe(404);
  });
});
