// The execution is called until a call has ended well and its wait is collected, and never after that.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startExecutionHost, type RestingExecution } from '../../helpers/restingExecution.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  askTeam,
  decide,
  goesOn,
  startWaitStage,
  waitOf,
  type Json,
  type WaitStage,
} from './support.ts';

const MINUTE_MS = 60_000;

describe('an execution that is resumed', () => {
  let stage: WaitStage;

  beforeAll(async () => {
    stage = await startWaitStage();
  });
  afterAll(() => stage?.close());

  /** Lets time pass until a wait has so many attempts on record. */
  const attempts = (wait: { id: string }, count: number, stepMs = 1000): Promise<Json[]> =>
    waitFor(`${count} attempts`, async () => {
      const { resume } = await waitOf(stage, wait);
      if (resume.attempts.length >= count) return resume.attempts;
      stage.pass(stepMs);
      return null;
    });
  /** Moves the clock to each next attempt until there are enough, however long one takes. */
  const untilAttempts = (wait: Json, isEnough: (resume: Json) => boolean): Promise<Json> =>
    waitFor('enough attempts', async () => {
      const { resume } = await waitOf(stage, wait);
      if (isEnough(resume)) return resume;
      const nextInMs = Date.parse(resume.next_attempt_at) - stage.now();
      if (nextInMs > 0) stage.pass(nextInMs);
      return null;
    });
  const askAndDecide = async (execution: RestingExecution): Promise<Json> => {
    const wait = await askTeam(stage, execution);
    expect((await decide(stage, wait)).status).toBe(200);
    return wait;
  };

  it('is called again when the decision comes before the execution rests', async () => {
    const execution = stage.n8n.execution();
    execution.answer(409);
    const wait = await askAndDecide(execution);
    const [first] = await attempts(wait, 1, 0);
    expect(first).toMatchObject({
      status: 409,
      problem: expect.stringMatching(/^localhost:\d+ answered 409: .* not waiting yet/),
    });
    stage.pass(2000);
    expect(await goesOn(execution)).toMatchObject({
      id: wait.id,
      status: 'approved',
      decision: { approved: true, by: { type: 'api' } },
    });
    expect(await attempts(wait, 2, 0)).toMatchObject([
      { status: 409 },
      { status: 200, problem: null },
    ]);
  });

  it('is called again when it answers 200 without collecting', async () => {
    const execution = stage.n8n.execution();
    execution.answer(200, 200);
    const wait = await askAndDecide(execution);
    expect(await attempts(wait, 3)).toMatchObject([
      { status: 200, problem: expect.stringContaining('was not collected') },
      { status: 200, problem: expect.stringContaining('was not collected') },
      { status: 200, problem: null },
    ]);
    await goesOn(execution);
    expect((await waitOf(stage, wait)).resume.state).toBe('done');
  });

  it('is not called again when it collects after a call that ended well', async () => {
    const execution = stage.n8n.execution();
    execution.answer(200, 200, 200, 200);
    const wait = await askAndDecide(execution);
    await attempts(wait, 4); // the next one is due in ten seconds
    expect((await stage.api.post(`/api/waits/${wait.id}/collect`)).status).toBe(200);
    expect((await waitOf(stage, wait)).resume).toMatchObject({
      state: 'done',
      next_attempt_at: null,
    });
  });

  it('goes on after its n8n was away for ten minutes', async () => {
    const host = await startExecutionHost(() => stage.api);
    const execution = host.execution();
    await host.goAway();
    const wait = await askAndDecide(execution);
    const resume = await untilAttempts(wait, (now) => now.attempts.length === 10);
    expect(resume.state).toBe('pending');
    const [first, last] = [resume.attempts[0], resume.attempts.at(-1)];
    expect(Date.parse(last.at) - Date.parse(first.at)).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    expect(resume.attempts.at(-1)).toMatchObject({
      status: null,
      problem: expect.stringContaining('refused the connection'),
    });
    await host.comeBack();
    const waitMs = Date.parse(resume.next_attempt_at) - stage.now();
    expect(waitMs).toBeLessThanOrEqual(5 * MINUTE_MS);
    await untilAttempts(wait, ({ state }) => state === 'done');
    await goesOn(execution);
    await host.close();
  });

  it('is never called again once it has collected, and collecting late gives the same', async () => {
    const execution = stage.n8n.execution();
    const wait = await askAndDecide(execution);
    const collected = await goesOn(execution);
    await attempts(wait, 1, 0);
    stage.pass(3 * 3600_000);
    const again = await stage.api.post(`/api/waits/${wait.id}/collect`);
    expect(again.status).toBe(200);
    expect(again.body.collected_at).toBe(collected.collected_at);
    expect(again.body.decision).toEqual(collected.decision);
    expect(execution.calls).toEqual([wait.id]);
  });

  it.each([
    ['its n8n gave up on the answer', 503],
    ['a proxy gave up on its n8n', 504],
  ])('is called again when it collects after %s', async (_, status) => {
    const execution = stage.n8n.execution();
    execution.answer(status);
    const wait = await askAndDecide(execution);
    await attempts(wait, 1, 0);
    // Its request to collect outlasted the call, so nobody reads the answer any more.
    expect((await stage.api.post(`/api/waits/${wait.id}/collect`)).status).toBe(200);
    stage.pass(16_000);
    await goesOn(execution);
    expect((await attempts(wait, 2, 0)).at(-1)).toMatchObject({ status: 200, problem: null });
    expect(await waitOf(stage, wait)).toMatchObject({
      resume: { state: 'done', next_attempt_at: null },
    });
  });

  it('is called again when its n8n dies collecting, also while a proxy answers for it', async () => {
    const execution = stage.n8n.execution();
    execution.answer('die', 404, 502);
    const wait = await askAndDecide(execution);
    await untilAttempts(wait, ({ next_attempt_at: next }) => next === null);
    expect(execution.wentOnWith).toHaveLength(1);
    expect((await waitOf(stage, wait)).resume.attempts).toMatchObject([
      { status: null },
      { status: 404 },
      { status: 502 },
      { status: 200, problem: null },
    ]);
  });

  it('leaves an older wait alone once a newer one has its address', async () => {
    const execution = stage.n8n.execution();
    execution.answer(409);
    const older = await askAndDecide(execution);
    await attempts(older, 1, 0);
    const newer = await askTeam(stage, execution);
    stage.pass(5000);
    await waitFor('the older one to be given up', async () => {
      const { resume } = await waitOf(stage, older);
      return resume.state === 'gave_up' && resume.problem.includes('newer wait');
    });
    const late = await stage.api.post(`/api/waits/${older.id}/collect`);
    expect(late.status).toBe(409);
    expect(late.body.error).toMatchObject({ code: 'wait_superseded', existing_id: newer.id });
    expect((await decide(stage, newer)).status).toBe(200);
    expect(await goesOn(execution)).toMatchObject({ id: newer.id });
    expect(execution.calls).toEqual([older.id, newer.id]);
  });

  it('has its open wait cancelled when a newer one has its address', async () => {
    const execution = stage.n8n.execution();
    const older = await askTeam(stage, execution);
    await askTeam(stage, execution);
    expect(await waitOf(stage, older)).toMatchObject({
      status: 'cancelled',
      resume: { state: 'none' },
    });
  });

  it('is given up after a day of 404, and the wait says why', async () => {
    const execution = stage.n8n.execution();
    execution.answerAlways(404);
    const wait = await askAndDecide(execution);
    const resume = await untilAttempts(wait, ({ state }) => state === 'gave_up');
    expect(resume.problem).toMatch(/^The execution is gone.* answered 404/);
    expect(resume.attempts.length).toBeGreaterThan(20);
    // The last attempt was due within the day; a service that is busy, or was down, makes it later.
    const first = Date.parse(resume.attempts[0].at);
    expect(Date.parse(resume.attempts.at(-2).at) - first).toBeLessThan(24 * 3600_000);
    const calls = execution.calls.length;
    stage.pass(24 * 3600_000);
    const other = stage.n8n.execution();
    await askAndDecide(other);
    await goesOn(other);
    expect(execution.calls).toHaveLength(calls);
  });

  it.each([
    [409, 'The execution "2" has finished with error.'],
    [409, 'The execution "2 has finished already.'],
    [404, 'The execution "2" does not exist.'],
  ])(
    'is not called again once n8n says that it was stopped or deleted (%d: %s)',
    async (status, message) => {
      const execution = stage.n8n.execution();
      execution.answer(409, { status, message });
      const wait = await askAndDecide(execution);
      await attempts(wait, 2);
      const { resume } = await waitOf(stage, wait);
      expect(resume).toMatchObject({ state: 'gave_up', next_attempt_at: null });
      expect(resume.problem).toMatch(/^The execution is gone\. .* answered \d+: /);
      expect(resume.problem).toContain(message);
    },
  );

  it('has what it answered on record, without the signature in its address', async () => {
    const execution = stage.n8n.execution();
    execution.answer({ status: 503, message: `Not at ${execution.url} now` });
    const [first] = await attempts(await askAndDecide(execution), 1);
    expect(first.problem).toMatch(/ answered 503\. It says: Not at https:.*\?… now$/);
    await goesOn(execution);
  });

  it('goes on without an answer when its wait is cancelled', async () => {
    const execution = stage.n8n.execution();
    const wait = await askTeam(stage, execution);
    await stage.api.post(`/api/waits/${wait.id}/cancel`);
    expect(await goesOn(execution)).toMatchObject({
      status: 'cancelled',
      decision: null,
      cancelled_by: { type: 'api' },
    });
  });

  it('collects nothing while the wait is open', async () => {
    const wait = await askTeam(stage, stage.n8n.execution());
    const early = await stage.api.post(`/api/waits/${wait.id}/collect`);
    expect(early.status).toBe(409);
    expect(early.body.error.code).toBe('wait_not_ended');
  });
});
