// What may happen only once, or only so often, over all processes: two of them are asked at the
// same moment.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { browserless, MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { allowSlowStarts, apisOf, atOnce, countBy, rounds, visitor, type Json } from './race.ts';

allowSlowStarts();

describe('two API processes that are asked at the same moment', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(['api', 'api'], { env: MEMBER_ENV });
  });
  afterAll(() => cluster?.stop());

  const api = () => apisOf(cluster)[0]!.api;
  const other = () => apisOf(cluster)[1]!.api;
  const conversation = async () => {
    const customer = await visitor(cluster);
    const { body } = await customer
      .at(apisOf(cluster)[0]!)
      .post('/api/chat/messages', { text: 'hello', client_message_id: 'hello' });
    return { customer, id: body.conversation_id as string };
  };
  const read = async (id: string): Promise<Json> =>
    (await other().get(`/api/conversations/${id}?messages=200`)).body;
  const textsOf = ({ messages }: Json): string[] => messages.map(({ text }: Json) => text);

  it('make exactly 25 of 30 subscriptions', async () => {
    for (const round of rounds(2)) {
      const made = await atOnce(cluster, 30, ({ api }, n) =>
        api.post('/api/hooks', {
          event: 'message.received',
          target_url: `https://127.0.0.1:9/${round}/${n}`,
          source: 'race',
        }),
      );
      expect(countBy(made, ({ status, body }) => body.error?.code ?? status)).toEqual({
        201: 25,
        subscription_limit_reached: 5,
      });
      const { data } = (await api().get('/api/hooks')).body;
      expect(data).toHaveLength(25);
      await atOnce(cluster, 25, ({ api }, n) => api.delete(`/api/hooks/${data[n].id}`));
      expect((await other().get('/api/hooks')).body.data).toEqual([]);
    }
  });

  it('make one subscription of an event and address', async () => {
    for (const round of rounds(6)) {
      const made = await atOnce(cluster, 4, ({ api }) =>
        api.post('/api/hooks', {
          event: 'message.sent',
          target_url: `https://127.0.0.1:9/same/${round}`,
          source: 'race',
        }),
      );
      expect(countBy(made, ({ status, body }) => body.error?.code ?? status)).toEqual({
        201: 1,
        subscription_exists: 3,
      });
      const { id } = made.find(({ status }) => status === 201)!.body;
      expect(
        new Set(
          made.filter(({ status }) => status === 409).map(({ body }) => body.error.existing_id),
        ),
      ).toEqual(new Set([id]));
      await other().delete(`/api/hooks/${id}`);
    }
  });

  it('make one tool of a name', async () => {
    for (const round of rounds(6)) {
      const tool = {
        name: `tool_${round}`,
        description: 'A tool.',
        kind: 'Webhook',
        endpoint: 'https://127.0.0.1:9/tool',
        parameters: { type: 'object' },
      };
      const made = await atOnce(cluster, 4, ({ api }) => api.post('/api/tools', tool));
      expect(countBy(made, ({ status, body }) => body.error?.code ?? status)).toEqual({
        201: 1,
        tool_exists: 3,
      });
    }
    expect((await api().get('/api/tools')).body.data).toHaveLength(6);
  });

  it('write once for one Idempotency-Key, and give the same answer', async () => {
    for (const round of rounds(6)) {
      const { id } = await conversation();
      const answers = await atOnce(cluster, 6, ({ api }) =>
        api.post(
          `/api/conversations/${id}/messages`,
          { text: 'once' },
          { 'idempotency-key': `same-${round}` },
        ),
      );
      expect(countBy(answers, ({ status }) => status)).toEqual({ 201: 6 });
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(textsOf(await read(id))).toEqual(['hello', 'once']);
    }
  });

  it('take one of two bodies that come with the same Idempotency-Key', async () => {
    for (const round of rounds(6)) {
      const { id } = await conversation();
      const answers = await atOnce(cluster, 2, ({ api }, n) =>
        api.post(
          `/api/conversations/${id}/messages`,
          { text: `text ${n}` },
          { 'idempotency-key': `two-${round}` },
        ),
      );
      expect(countBy(answers, ({ status, body }) => body.error?.code ?? status)).toEqual({
        201: 1,
        idempotency_key_reused: 1,
      });
      expect(textsOf(await read(id))).toEqual([
        'hello',
        `text ${answers.findIndex(({ status }) => status === 201)}`,
      ]);
    }
  });

  it("make one message of a visitor's that is sent twice", async () => {
    for (const _ of rounds(8)) {
      const customer = await visitor(cluster);
      const answers = await atOnce(cluster, 4, (process) =>
        customer
          .at(process)
          .post('/api/chat/messages', { text: 'the same', client_message_id: 'same' }),
      );
      expect(countBy(answers, ({ status }) => status)).toEqual({ 202: 4 });
      expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1);
      expect(textsOf(await read(answers[0]!.body.conversation_id))).toEqual(['the same']);
    }
  });

  it('open one conversation for the first messages of a visitor', async () => {
    for (const _ of rounds(8)) {
      const customer = await visitor(cluster);
      const answers = await atOnce(cluster, 4, (process, n) =>
        customer
          .at(process)
          .post('/api/chat/messages', { text: `first ${n}`, client_message_id: `first ${n}` }),
      );
      const ids = new Set(answers.map(({ body }) => body.conversation_id as string));
      expect(ids.size).toBe(1);
      const found = await read([...ids][0]!);
      expect(found.message_count).toBe(4);
      expect(textsOf(found).sort()).toEqual(['first 0', 'first 1', 'first 2', 'first 3']);
    }
  });

  it('close a conversation once, and what is written at that moment is in it or refused', async () => {
    for (const _ of rounds(8)) {
      const { id } = await conversation();
      const answers = await atOnce(cluster, 6, ({ api }, n) =>
        n < 2
          ? api.post(`/api/conversations/${id}/close`, {
              summary: `by ${n}`,
              verdict: 'goal_reached',
            })
          : api.post(`/api/conversations/${id}/messages`, { text: `late ${n}` }),
      );
      const [closes, messages] = [answers.slice(0, 2), answers.slice(2)];
      expect(countBy(closes, ({ status, body }) => body.error?.code ?? status)).toEqual({
        200: 1,
        conversation_closed: 1,
      });
      const taken = messages.flatMap(({ status }, n) => (status === 201 ? [`late ${n + 2}`] : []));
      for (const { status, body } of messages)
        if (status !== 201) expect(body.error.code).toBe('conversation_closed');
      const found = await read(id);
      expect(found).toMatchObject({
        status: 'closed',
        message_count: 1 + taken.length,
        outcome: { summary: closes.find(({ status }) => status === 200)!.body.outcome.summary },
      });
      expect(textsOf(found).sort()).toEqual(['hello', ...taken].sort());
    }
  });

  it('mark a payment paid once', async () => {
    await api().call('PUT', '/api/payment-accounts/manual', {
      settings: { instructions: 'Transfer it.' },
    });
    for (const _ of rounds(5)) {
      const { id } = await conversation();
      const { body: link } = await other().post(`/api/conversations/${id}/payment-links`, {
        amount: 4900,
        currency: 'usd',
        description: 'Demo',
      });
      const answers = await atOnce(cluster, 4, ({ api }, n) =>
        api.post(`/api/payment-links/${link.id}/mark-paid`, { reference: `Transfer ${n}` }),
      );
      expect(countBy(answers, ({ status }) => status)).toEqual({ 200: 4 });
      // The first one's reference is what all of them say.
      expect(new Set(answers.map(({ body }) => body.provider_reference)).size).toBe(1);
      expect(new Set(answers.map(({ body }) => body.paid_at)).size).toBe(1);
      expect(await read(id)).toMatchObject({ funnel_stage: 'customer' });
    }
    const { id: hook } = (
      await api().post('/api/hooks', {
        event: 'payment.paid',
        target_url: 'https://127.0.0.1:9/paid',
        source: 'race',
      })
    ).body;
    const { id } = await conversation();
    const { body: link } = await api().post(`/api/conversations/${id}/payment-links`, {
      amount: 4900,
      currency: 'usd',
      description: 'Demo',
    });
    await atOnce(cluster, 6, ({ api }) => api.post(`/api/payment-links/${link.id}/mark-paid`, {}));
    expect((await other().get(`/api/hooks/${hook}/deliveries`)).body.data).toHaveLength(1);
  });

  it('let one of two people in by one invitation', async () => {
    const ana = await signedInBrowser(apisOf(cluster)[0]!.url);
    for (const round of rounds(3)) {
      await ana.get('/team');
      const { html } = await ana.post('/team/invites', { note: 'Somebody', role: 'owner' });
      const token = /join\?token=([\w-]+)/.exec(html)![1]!;
      const pages = await atOnce(cluster, 2, ({ url }, n) =>
        browserless(url).post('/join', {
          token,
          name: `Bob ${round} ${n}`,
          email: `bob${round}${n}@example.com`,
          password: 'another long password',
        }),
      );
      expect(countBy(pages, ({ status }) => status)).toEqual({ 200: 1, 404: 1 });
      const { text } = await ana.get('/team');
      expect(rounds(2).filter((n) => text.includes(`bob${round}${n}@example.com`))).toHaveLength(1);
    }
  });
});
