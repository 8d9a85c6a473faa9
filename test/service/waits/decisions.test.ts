// The team decides, once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  askCustomer,
  askNewCustomer,
  askTeam,
  decide,
  goesOn,
  postWait,
  startTalk,
  startWaitStage,
  waitOf,
  type Json,
  type WaitStage,
} from './support.ts';

const HOUR_MS = 3_600_000;

/** Objects in one another, `depth` levels deep. */
const nested = (depth: number): Json => (depth === 1 ? {} : { in: nested(depth - 1) });

describe('a question to the team', () => {
  let stage: WaitStage;

  beforeAll(async () => {
    stage = await startWaitStage();
  });
  afterAll(() => stage?.close());

  it('is decided with a note, without a conversation', async () => {
    const execution = stage.n8n.execution();
    const details = { order: 'A-1042', items: [{ name: 'Lamp', price: 49 }] };
    const wait = await askTeam(stage, execution, {
      details,
      approve_label: 'Refund',
      reject_label: 'Keep',
    });
    expect(wait).toMatchObject({
      conversation_id: null,
      details,
      approve_label: 'Refund',
      reject_label: 'Keep',
    });
    const { status, body } = await decide(stage, wait, { approved: false, note: 'Too late.' });
    expect([status, body.status]).toEqual([200, 'rejected']);
    expect(await goesOn(execution)).toMatchObject({
      status: 'rejected',
      decision: { approved: false, note: 'Too late.', by: { type: 'api' } },
    });
  });

  it('is decided by one of fifty at once; the others learn by whom and when', async () => {
    const execution = stage.n8n.execution();
    const wait = await askTeam(stage, execution);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        decide(stage, wait, { approved: index % 2 === 0, note: `No. ${index}` }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const { decision } = won[0]!.body;
    for (const { status, body } of answers.filter((answer) => answer !== won[0])) {
      expect([status, body.error.code]).toEqual([409, 'wait_ended']);
      const how = decision.approved ? 'approved' : 'rejected';
      expect(body.error.message).toContain(`was ${how} by ${decision.by.name} at ${decision.at}`);
    }
    expect((await goesOn(execution)).decision).toEqual(decision);
    expect(execution.calls).toEqual([wait.id]);
  });

  it('is not decided any more once its time is over, and the execution goes on', async () => {
    const execution = stage.n8n.execution();
    const expiresAt = new Date(stage.now() + HOUR_MS).toISOString();
    const wait = await askTeam(stage, execution, { expires_at: expiresAt });
    stage.pass(HOUR_MS);
    const late = await decide(stage, wait);
    expect([late.status, late.body.error.code]).toEqual([409, 'wait_ended']);
    expect(late.body.error.message).toContain('expired at');
    expect(await goesOn(execution)).toMatchObject({ status: 'expired', decision: null });
  });

  it('is not decided after it was cancelled, and cancelling again changes nothing', async () => {
    const wait = await askTeam(stage, stage.n8n.execution());
    const cancel = () => stage.api.post(`/api/waits/${wait.id}/cancel`);
    const first = await cancel();
    stage.pass(HOUR_MS);
    const { status, ended_at, cancelled_by } = first.body;
    expect((await cancel()).body).toMatchObject({ status, ended_at, cancelled_by });
    const late = await decide(stage, wait);
    expect(late.body.error.message).toContain(
      `was cancelled by ${cancelled_by.name} at ${ended_at}`,
    );
  });

  it('stays decided when it is cancelled afterwards', async () => {
    const execution = stage.n8n.execution();
    execution.answerAlways(409);
    const wait = await askTeam(stage, execution);
    await decide(stage, wait);
    const { body } = await stage.api.post(`/api/waits/${wait.id}/cancel`);
    expect(body).toMatchObject({ status: 'approved', resume: { state: 'pending' } });
  });

  it('is the only kind that the team decides: a question to a customer is answered by them alone', async () => {
    const { wait } = await askNewCustomer(stage);
    const { status, body } = await decide(stage, wait);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['reply without a conversation', { kind: 'reply' }, 400, 'conversation_id'],
    ['kind that does not exist', { kind: 'poll' }, 400, 'kind'],
    ['time in the past', { expires_at: '2020-01-01T00:00:00Z' }, 400, 'expires_at'],
    ['time beyond a year', { expires_at: '2099-01-01T00:00:00Z' }, 400, 'expires_at'],
    ['time in the year 10000', { expires_at: '9999-12-31T23:59:59-14:00' }, 400, 'expires_at'],
    ['choice without choices', { accept: { type: 'choice' } }, 400, 'accept.choices'],
    ['number with choices', { accept: { type: 'number', choices: ['1'] } }, 400, 'accept.choices'],
    ['choice twice', { accept: { type: 'choice', choices: ['A', 'a '] } }, 400, 'accept.choices'],
    ['choice twice', { accept: { type: 'choice', choices: ['Él', 'el'] } }, 400, 'accept.choices'],
    ['type of answer', { accept: { type: 'email' } }, 400, 'accept'],
    ['reminder', { remind_after: 60 }, 400, 'remind_after'],
    ['text to ask again', { retry_message: 'Again?' }, 400, 'retry_message'],
    ['text to remind', { remind_message: 'Again?' }, 400, 'remind_message'],
    ['button without a card', { kind: 'reply', approve_label: 'Yes' }, 400, 'approve_label'],
    ['table without a card', { kind: 'reply', details: { order: 4711 } }, 400, 'details'],
    ['details nested too deep', { details: nested(9) }, 400, 'details'],
    ['details beyond 16 KiB', { details: { text: 'x'.repeat(17_000) } }, 400, 'details'],
    ['address without https', { resume_url: 'http://n8n.example.com/x' }, 422, 'resume_url'],
    ['address in a private network', { resume_url: 'https://10.0.0.1/x' }, 422, 'resume_url'],
  ])('is refused with a %s', async (_what, fields: Json, status, param) => {
    const answer = await postWait(stage, stage.n8n.execution(), fields);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
  });

  it('takes details that are nested as deep as a person can read, and shows them', async () => {
    const wait = await askTeam(stage, stage.n8n.execution(), { details: nested(8) });
    expect(wait.details).toEqual(nested(8));
  });

  it('is refused for a turn or a conversation that does not exist', async () => {
    for (const fields of [{ turn_id: 'turn_NONE' }, { conversation_id: 'conv_NONE' }]) {
      const { status } = await postWait(stage, stage.n8n.execution(), fields);
      expect(status).toBe(404);
    }
  });

  it('is found among the open ones, newest first', async () => {
    const talk = await startTalk(stage);
    const conversation = { conversation_id: talk.conversationId };
    const first = await askTeam(stage, stage.n8n.execution(), conversation);
    const second = await askTeam(stage, stage.n8n.execution(), conversation);
    const reply = await askCustomer(stage, talk, stage.n8n.execution());
    const idsOf = async (query: string): Promise<string[]> =>
      (await stage.api.get(`/api/waits?${query}`)).body.data.map(({ id }: Json) => id as string);
    const here = `conversation_id=${talk.conversationId}`;
    expect(await idsOf(here)).toEqual([reply.id, second.id, first.id]);
    expect(await idsOf(`${here}&kind=decision`)).toEqual([second.id, first.id]);
    await decide(stage, second, { approved: true, note: null });
    expect(await idsOf(`${here}&kind=decision&status=open`)).toEqual([first.id]);
    expect(await idsOf('status=open&limit=2')).toEqual([reply.id, first.id]);
    expect(await waitOf(stage, first)).toMatchObject({ status: 'open' });
  });
});
