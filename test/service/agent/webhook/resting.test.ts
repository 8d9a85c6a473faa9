// A turn whose workflow asks the customer or the team, rests, and goes on.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { readMetrics } from '../../../helpers/metrics.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { totals } from '../../overview/support.ts';
import {
  accepts,
  says,
  startWorkflowStage,
  type Json,
  type Talk,
  type WorkflowStage,
} from './workflowStage.ts';

let stage: WorkflowStage;
let browser: Browserless;
let skewMs = 0;
beforeAll(async () => {
  const clock = { now: () => new Date(Date.now() + skewMs) };
  stage = await startWorkflowStage({ clock, env: MEMBER_ENV });
  browser = await signedInBrowser(stage.service.url);
});
beforeEach(() => stage.workflow.forget());
afterAll(() => stage?.close());

const later = () => new Date(Date.now() + skewMs + 3_600_000).toISOString();

/** The turn's workflow asks. Its execution collects only when the test says so. */
async function ask(talk: Talk, turnId: string, fields: Json = {}): Promise<string> {
  const { status, body } = await stage.api.post('/api/waits', {
    kind: 'reply',
    conversation_id: talk.id,
    turn_id: turnId,
    message: 'Which order?',
    resume_url: `${stage.workflow.url}/rests/${crypto.randomUUID()}`,
    expires_at: later(),
    ...fields,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

const ended = (id: string) =>
  waitFor('the end of the wait', async () => {
    const { body } = await stage.api.get(`/api/waits/${id}`);
    return body.status === 'open' ? null : body;
  });
const collect = (id: string) => stage.api.post(`/api/waits/${id}/collect`);

describe('a turn that asks the customer', () => {
  it('rests: its time stops, and the answer begins no other turn; then it goes on and replies', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const wait = await ask(talk, id);
    expect(await talk.turnIn('suspended')).toMatchObject({ deadline: null });
    const refused = await stage.operate(id, 'replies', { text: 'Too early.' });
    expect(refused.body.error.message).toMatch(
      /rests until its wait has ended\. Nothing was sent\. Answer when/,
    );
    const metric = async (name: string, labels: Record<string, string>) =>
      (await readMetrics(stage.service.url)).value(`conversation_service_${name}`, labels) ?? 0;
    expect(await metric('agent_turns_open', { status: 'suspended' })).toBe(1);
    skewMs += 120_000;
    await talk.write('A-1042');
    await ended(wait);
    expect((await collect(wait)).body.answer.text).toBe('A-1042');
    const { body } = await stage.operate(id, 'replies', { text: 'Refunded.' });
    expect(body.turn).toMatchObject({ status: 'answered', outcome: 'reply', is_resumed: true });
    expect(await talk.replies()).toEqual(['Which order?', 'Refunded.']);
    expect(await talk.turns()).toHaveLength(1);
    // The seconds of a turn include its rest, because the customer waits then too.
    const reply = { outcome: 'reply' };
    await waitFor(
      'the turn to be counted',
      async () => (await metric('agent_turn_seconds_count', reply)) === 1,
    );
    expect(await metric('agent_turn_seconds_sum', reply)).toBeGreaterThanOrEqual(120);
    expect(await metric('agent_turns_open', { status: 'suspended' })).toBe(0);
  });

  it('begins its question with the greeting when that is the first message, and says it once', async () => {
    await stage.api.patch('/api/agent', { greeting: 'Hello from Acme!' });
    try {
      const { talk, id } = await stage.acceptedTurn();
      const wait = await ask(talk, id);
      await talk.write('A-1042');
      expect(await ended(wait)).toMatchObject({ message: 'Which order?' });
      await collect(wait);
      await stage.operate(id, 'replies', { text: 'Refunded.' });
      expect(await talk.replies()).toEqual(['Hello from Acme!\n\nWhich order?', 'Refunded.']);
    } finally {
      await stage.api.patch('/api/agent', { greeting: '' });
    }
  });

  it('leaves what the customer writes afterwards to a turn of its own, beside it', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const wait = await ask(talk, id);
    await talk.write('A-1042');
    await ended(wait);
    await collect(wait);
    stage.workflow.forget();
    stage.workflow.answer(says('To the newer one.'));
    await talk.write('and where are you?');
    const { body: newer } = await stage.workflow.turn();
    expect(newer.messages.map(({ text }: Json) => text)).toEqual(['and where are you?']);
    expect(await talk.reply(2)).toBe('To the newer one.');
    expect((await stage.operate(id, 'replies', { text: 'Refunded.' })).status).toBe(201);
    expect(await talk.reply(3)).toBe('Refunded.');
  });

  it('is refused after a take-over, which ends its wait', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const wait = await ask(talk, id);
    await talk.act('takeover');
    expect(await ended(wait)).toMatchObject({ status: 'taken_over' });
    const refused = await stage.operate(id, 'replies', { text: 'Stale.' });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'turn_superseded']);
    expect(await talk.replies()).toEqual(['Which order?']);
  });

  it('fails when it does not answer in time after it went on', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const wait = await ask(talk, id);
    await talk.write('A-1042');
    await ended(wait);
    await collect(wait);
    skewMs += 62_000;
    expect(await talk.turnIn('failed')).toMatchObject({
      turn_id: id,
      problem: expect.stringContaining('after its wait'),
    });
    expect((await talk.replies()).at(-1)).toBe(SENTENCES.handOverAfterError.en);
  });

  it('gives an execution that is slow to come back a quarter of an hour', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const wait = await ask(talk, id);
    await talk.write('A-1042');
    await ended(wait);
    skewMs += 10 * 60_000;
    await collect(wait);
    expect((await stage.operate(id, 'end')).status).toBe(200);
    expect((await talk.record()).status).toBe('ai_active');
  });

  it('cannot ask once a person took over or the customer wrote more', async () => {
    const { talk, id } = await stage.acceptedTurn();
    await talk.act('takeover');
    await expect(ask(talk, id)).rejects.toThrow(/turn_superseded/);
  });
});

describe('a turn that asks the team', () => {
  it('answers nothing newer with the question that it asks afterwards', async () => {
    const { talk, id } = await stage.acceptedTurn('refund me please');
    const decision = await ask(talk, id, { kind: 'decision', message: 'Refund 49 EUR?' });
    stage.workflow.forget();
    stage.workflow.answer(accepts);
    await talk.write('also, change my address');
    await stage.workflow.turn();
    await stage.api.post(`/api/waits/${decision}/decide`, { approved: true });
    await collect(decision);
    const question = await ask(talk, id);
    await talk.write('A-1042');
    await ended(question);
    await talk.write('and thank you');
    const { body } = await stage.workflow.turn(2);
    expect(body.messages.map(({ text }: Json) => text)).toEqual([
      'also, change my address',
      'and thank you',
    ]);
  });

  describe('and replies when it has rested', () => {
    const isWaiting = async ({ id }: Talk) =>
      (await browser.get('/conversations?tab=waiting')).html.includes(`/conversations/${id}`);
    async function decided() {
      const begun = await stage.acceptedTurn('refund me please');
      const decision = await ask(begun.talk, begun.id, { kind: 'decision', message: 'Refund?' });
      await stage.api.post(`/api/waits/${decision}/decide`, { approved: true });
      await collect(decision);
      return begun;
    }

    it('has answered, as the Overview counts', async () => {
      const { id } = await decided();
      const before = await totals(browser, 'answers');
      await stage.operate(id, 'replies', { text: 'Refunded.' });
      expect((await totals(browser, 'answers')).Workflow).toBe((before.Workflow ?? 0) + 1);
    });

    async function newerTurn(talk: Talk): Promise<string> {
      stage.workflow.forget();
      stage.workflow.answer(accepts);
      await talk.write('also, change my address');
      return (await stage.workflow.turn()).body.turn_id;
    }
    async function replyAndTakeOver({ talk, id }: { talk: Talk; id: string }) {
      expect((await stage.operate(id, 'replies', { text: 'Refunded.' })).status).toBe(201);
      await browser.get(`/conversations/${talk.id}`);
      await browser.post(`/conversations/${talk.id}/take-over`);
    }

    it('has not answered what the customer wrote since', async () => {
      const begun = await decided();
      await newerTurn(begun.talk);
      await replyAndTakeOver(begun);
      expect(await isWaiting(begun.talk)).toBe(true);
    });

    it('has not answered a newer message whose turn rests', async () => {
      const begun = await decided();
      const newer = await newerTurn(begun.talk);
      await ask(begun.talk, newer, { kind: 'decision', message: 'Change the address?' });
      await replyAndTakeOver(begun);
      expect(await isWaiting(begun.talk)).toBe(true);
    });

    it("has not answered what the customer replied to another turn's question", async () => {
      const begun = await decided();
      const question = await ask(begun.talk, await newerTurn(begun.talk));
      await begun.talk.write('Main Street 1');
      await ended(question);
      await replyAndTakeOver(begun);
      expect(await isWaiting(begun.talk)).toBe(true);
    });
  });

  it('keeps its messages: what the customer writes then is another turn without them', async () => {
    const { talk, id } = await stage.acceptedTurn();
    const wait = await ask(talk, id, { kind: 'decision', message: 'Refund 49 EUR?' });
    stage.workflow.forget();
    stage.workflow.answer(says('We are looking into it.'));
    await talk.write('are you there?');
    const { body: other } = await stage.workflow.turn();
    expect(other.messages.map(({ text }: Json) => text)).toEqual(['are you there?']);
    await talk.reply();
    await stage.api.post(`/api/waits/${wait}/decide`, { approved: true });
    await collect(wait);
    await stage.operate(id, 'replies', { text: 'Refunded.' });
    expect(await talk.replies()).toEqual(['We are looking into it.', 'Refunded.']);
  });
});
