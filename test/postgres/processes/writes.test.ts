// What may happen only once, although two processes are asked for it at the same moment. The tests in
// test/service/races ask two services that run in one process.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { allowSlowStarts, apisOf, atOnce, outcomesOf, rounds, visitor, type Json } from './race.ts';

allowSlowStarts();

describe('two API processes that are asked at the same moment', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(['api', 'api']);
  });
  afterAll(() => cluster?.stop());

  const api = () => apisOf(cluster)[0]!.api;
  const other = () => apisOf(cluster)[1]!.api;
  const conversation = async () => {
    const { body } = await (await visitor(cluster)).write(apisOf(cluster)[0]!, 'hello');
    return body.conversation_id as string;
  };
  const read = async (id: string): Promise<Json> =>
    (await other().get(`/api/conversations/${id}?messages=200`)).body;
  const textsOf = ({ messages }: Json): string[] => messages.map(({ text }: Json) => text);

  it('create only one tool with a name', async () => {
    for (const round of rounds(6)) {
      const tool = {
        name: `tool_${round}`,
        description: 'A tool.',
        kind: 'Webhook',
        endpoint: 'https://127.0.0.1:9/tool',
        parameters: { type: 'object' },
      };
      const made = await atOnce(cluster, 4, ({ api }) => api.post('/api/tools', tool));
      expect(outcomesOf(made)).toEqual({ 201: 1, tool_exists: 3 });
    }
    expect((await api().get('/api/tools')).body.data).toHaveLength(6);
  });

  it('take one of two bodies that come with the same Idempotency-Key', async () => {
    for (const round of rounds(6)) {
      const id = await conversation();
      const answers = await atOnce(cluster, 2, ({ api }, n) =>
        api.post(
          `/api/conversations/${id}/messages`,
          { text: `text ${n}` },
          { 'idempotency-key': `two-${round}` },
        ),
      );
      expect(outcomesOf(answers)).toEqual({ 201: 1, idempotency_key_reused: 1 });
      expect(textsOf(await read(id))).toEqual([
        'hello',
        `text ${answers.findIndex(({ status }) => status === 201)}`,
      ]);
    }
  });

  it('close a conversation once, and what is written at that moment is in it or refused', async () => {
    for (const _ of rounds(8)) {
      const id = await conversation();
      const answers = await atOnce(cluster, 6, ({ api }, n) =>
        n < 2
          ? api.post(`/api/conversations/${id}/close`, {
              summary: `by ${n}`,
              verdict: 'goal_reached',
            })
          : api.post(`/api/conversations/${id}/messages`, { text: `late ${n}` }),
      );
      const [closes, messages] = [answers.slice(0, 2), answers.slice(2)];
      expect(outcomesOf(closes)).toEqual({ 200: 1, conversation_closed: 1 });
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
    await api().put('/api/payment-accounts/manual', {
      settings: { instructions: 'Transfer it.' },
    });
    const hook = { event: 'payment.paid', target_url: 'https://127.0.0.1:9/paid', source: 'race' };
    const { id: hookId } = (await api().post('/api/hooks', hook)).body;
    for (const _ of rounds(5)) {
      const id = await conversation();
      const { body: link } = await other().post(`/api/conversations/${id}/payment-links`, {
        amount: 4900,
        currency: 'usd',
        description: 'Demo',
      });
      const answers = await atOnce(cluster, 4, ({ api }, n) =>
        api.post(`/api/payment-links/${link.id}/mark-paid`, { reference: `Transfer ${n}` }),
      );
      expect(outcomesOf(answers)).toEqual({ 200: 4 });
      // The first one's reference is what all of them say.
      expect(new Set(answers.map(({ body }) => body.provider_reference)).size).toBe(1);
      expect(new Set(answers.map(({ body }) => body.paid_at)).size).toBe(1);
      expect(await read(id)).toMatchObject({ funnel_stage: 'customer' });
    }
    expect((await other().get(`/api/hooks/${hookId}/deliveries`)).body.data).toHaveLength(5);
  });
});
