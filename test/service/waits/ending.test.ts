// How a question to a customer ends when nobody answers it, and what happens at the same moment.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { graphError, startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp } from '../channels/whatsapp/whatsappTalk.ts';
import {
  askCustomer,
  askNewCustomer,
  askTeam,
  goesOn,
  postWait,
  startTalk,
  startWaitStage,
  textsTo,
  waitOf,
  type Json,
  type WaitStage,
} from './support.ts';

const HOUR_MS = 3_600_000;
/** Longer than any test: no answer is judged here because the customer fell quiet. */
const QUIET_MS = 60_000;

describe('a question to a customer that nobody answers', () => {
  let stage: WaitStage;
  let graph: GraphServer;

  beforeAll(async () => {
    graph = await startGraphServer();
    stage = await startWaitStage({
      env: {
        AGENT_QUIET_MS: String(QUIET_MS),
        GRAPH_API_URL: graph.url,
        CHANNEL_RETRY_DELAYS_MS: '10,10,10,10',
      },
    });
  });
  afterAll(async () => {
    await stage?.close();
    await graph?.close();
  });

  const inAnHour = () => new Date(stage.now() + HOUR_MS).toISOString();
  const change = async (id: string, what: string, body?: Json): Promise<void> => {
    const { status } = await stage.api.post(`/api/conversations/${id}/${what}`, body);
    expect(status).toBe(200);
  };

  const reconnectWhatsApp = async () => {
    const account = (await stage.api.get('/api/channels')).body.data[0];
    expect(account).toBeDefined();
    await stage.api.delete(`/api/channels/${account.id}`);
    return connectWhatsApp(stage, graph);
  };

  it('expires, and the execution goes on', async () => {
    const { talk, execution } = await askNewCustomer(stage, { expires_at: inAnHour() });
    stage.pass(HOUR_MS);
    expect(await goesOn(execution)).toMatchObject({ status: 'expired', answer: null });
    // The next question finds room.
    await askCustomer(stage, talk, stage.n8n.execution());
  });

  it('is answered by what was written before its time was over, without a moment of quiet', async () => {
    const { talk, execution } = await askNewCustomer(stage, { expires_at: inAnHour() });
    stage.pass(HOUR_MS - 5000);
    await talk.customer.write('A-1042');
    stage.pass(6000);
    expect(await goesOn(execution)).toMatchObject({
      status: 'answered',
      answer: { value: 'A-1042' },
    });
  });

  it('expires with an answer that is not accepted, and is not asked again', async () => {
    const fields = { expires_at: inAnHour(), accept: { type: 'email' } };
    const { talk, execution } = await askNewCustomer(stage, fields);
    await talk.customer.write('later');
    stage.pass(HOUR_MS);
    expect(await goesOn(execution)).toMatchObject({
      status: 'expired',
      answer: { text: 'later', value: null },
    });
    expect(await textsTo(talk.customer)).toHaveLength(1);
  });

  it('ends when a person takes over, and leaves what the customer wrote to them', async () => {
    const { talk, execution } = await askNewCustomer(stage);
    await talk.customer.write('A-1042');
    await change(talk.conversationId, 'takeover');
    expect(await goesOn(execution)).toMatchObject({ status: 'taken_over', answer: null });
  });

  it('ends when a person writes', async () => {
    const { talk, execution } = await askNewCustomer(stage);
    await stage.api.post(`/api/conversations/${talk.conversationId}/messages`, { text: 'Hi' });
    expect(await goesOn(execution)).toMatchObject({ status: 'taken_over' });
  });

  it('ends with its conversation, and so does a question to the team there', async () => {
    const talk = await startTalk(stage);
    const [reply, decision, elsewhere] = [
      stage.n8n.execution(),
      stage.n8n.execution(),
      stage.n8n.execution(),
    ];
    await askCustomer(stage, talk, reply);
    await askTeam(stage, decision, { conversation_id: talk.conversationId });
    const other = await askTeam(stage, elsewhere);
    const closing = { summary: 'Done.', verdict: 'goal_reached' };
    await change(talk.conversationId, 'close', closing);
    expect(await goesOn(reply)).toMatchObject({ status: 'closed' });
    expect(await goesOn(decision)).toMatchObject({ status: 'closed', decision: null });
    expect(await waitOf(stage, other)).toMatchObject({ status: 'open' });
    await talk.customer.write('One more thing');
    const fields = { kind: 'reply', conversation_id: talk.conversationId };
    const asked = await postWait(stage, stage.n8n.execution(), fields);
    expect([asked.status, asked.body.error.code]).toEqual([409, 'conversation_closed']);
  });

  it('stays open, no matter who has control, when the team is asked instead', async () => {
    const talk = await startTalk(stage);
    const wait = await askTeam(stage, stage.n8n.execution(), {
      conversation_id: talk.conversationId,
    });
    await change(talk.conversationId, 'takeover');
    expect(await waitOf(stage, wait)).toMatchObject({ status: 'open' });
  });

  it('is undeliverable when WhatsApp refuses it for good', async () => {
    const account = await connectWhatsApp(stage, graph);
    const customer = await account.customer('14155552671', new Date(stage.now()));
    graph.answerWith(graphError(400, { code: 131026, message: 'Message undeliverable' }));
    const execution = stage.n8n.execution();
    await askCustomer(stage, customer, execution);
    expect(await goesOn(execution)).toMatchObject({ status: 'undeliverable' });
  });

  it('is undeliverable when WhatsApp reports later that it failed', async () => {
    const connected = await reconnectWhatsApp();
    const customer = await connected.customer('14155552672', new Date(stage.now()));
    const execution = stage.n8n.execution();
    await askCustomer(stage, customer, execution);
    const taken = await waitFor('the question to be taken', () =>
      graph.taken.find(({ body }) => body.to === '14155552672'),
    );
    await connected.tell(taken, 'failed', [{ code: 131049, title: 'Not delivered' }]);
    expect(await goesOn(execution)).toMatchObject({ status: 'undeliverable' });
  });

  it('stays open when its reminder is refused, which the thread shows', async () => {
    const connected = await reconnectWhatsApp();
    const customer = await connected.customer('14155552674', new Date(stage.now()));
    const execution = stage.n8n.execution();
    const wait = await askCustomer(stage, customer, execution, {
      remind_after: 25 * 3600,
      remind_message: 'Still there?',
    });
    stage.pass(25 * HOUR_MS);
    const reminder = await waitFor('the reminder', async () => {
      const { body } = await stage.api.get(
        `/api/conversations/${customer.conversationId}/messages`,
      );
      return body.data.find(({ text }: Json) => text === 'Still there?');
    });
    expect(reminder.delivery).toEqual({
      state: 'failed',
      error: expect.stringContaining('for 24 hours after their last one'),
    });
    expect(await waitOf(stage, wait)).toMatchObject({ status: 'open' });
    stage.pass(7 * 24 * HOUR_MS);
    expect(await goesOn(execution)).toMatchObject({ status: 'expired' });
  });

  it('is refused where the channel takes no messages any more', async () => {
    const connected = await reconnectWhatsApp();
    const { conversationId } = await connected.customer('14155552673', new Date(stage.now()));
    stage.pass(25 * HOUR_MS);
    const fields = { kind: 'reply', conversation_id: conversationId };
    const { status, body } = await postWait(stage, stage.n8n.execution(), fields);
    expect([status, body.error.code]).toEqual([409, 'outside_messaging_window']);
    const waits = await stage.api.get(`/api/waits?conversation_id=${conversationId}`);
    expect(waits.body.data).toEqual([]);
  });

  it('ends in exactly one way when an answer, the expiry and a take-over come at once', async () => {
    for (let round = 0; round < 12; round++) {
      const fields = { expires_at: inAnHour() };
      const { talk, execution, wait } = await askNewCustomer(stage, fields);
      const write = () => talk.customer.write('A-1042');
      if (round % 2 === 0) await write();
      stage.pass(HOUR_MS - (round % 3));
      await Promise.all([
        ...(round % 2 === 0 ? [] : [write()]),
        stage.api.post(`/api/conversations/${talk.conversationId}/takeover`),
        waitFor('the end of its time', async () => {
          stage.pass(1);
          return (await waitOf(stage, wait)).status !== 'open';
        }),
      ]);
      const { status, answer } = await goesOn(execution);
      expect(answer?.value ?? null).toBe(status === 'answered' ? 'A-1042' : null);
      const { body } = await stage.api.get(`/api/conversations/${talk.conversationId}/messages`);
      const written = body.data.filter(({ text }: Json) => text === 'A-1042');
      expect(written).toHaveLength(1);
      expect(['answered', 'expired', 'taken_over']).toContain(status);
    }
  }, 60_000);
});
