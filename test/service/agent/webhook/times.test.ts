// When a turn is sent again, when it fails, and how long each takes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { freePort } from '../../../helpers/program.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  answers,
  hangs,
  ownerQuery,
  says,
  startWorkflowServer,
  startWorkflowStage,
  type Talk,
  type WorkflowStage,
} from './workflowStage.ts';

const FAILED = SENTENCES.handOverAfterError.en;

let stage: WorkflowStage;
let skewMs = 0;
beforeAll(async () => {
  stage = await startWorkflowStage({ clock: { now: () => new Date(Date.now() + skewMs) } });
});
beforeEach(async () => {
  stage.workflow.forget();
  await stage.publish();
});
afterEach(() => expect(stage.workflow.faults).toEqual([]));
afterAll(() => stage?.close());

const turnOf = async (talk: Talk) => (await talk.turns()).at(-1);

/** Lets time pass in steps of ten seconds until the turn has failed. */
async function passUntilFailed(talk: Talk): Promise<void> {
  for (;;) {
    const replies = await talk.replies();
    const { status, attempts } = await turnOf(talk);
    if (status === 'failed') return;
    expect(replies).toEqual([]);
    skewMs += 10_000;
    await waitFor('the next attempt', async () => {
      const next = await turnOf(talk);
      return next.status === 'failed' || next.attempts > attempts || next.status === 'queued';
    });
    await new Promise((resolve) => setTimeout(resolve, 50)); // the service looks at the clock every 20 ms
  }
}

describe('a workflow that cannot be reached', () => {
  it('is tried again under the same turn_id until somebody listens', async () => {
    const port = await freePort();
    await stage.publish({ endpoint: `http://127.0.0.1:${port}/agent` });
    const talk = await stage.talk('hello');
    await waitFor('a refused attempt', async () => {
      const turn = await turnOf(talk);
      return turn?.status === 'queued' && turn.attempts >= 1 ? turn : null;
    });
    expect(await turnOf(talk)).toMatchObject({
      problem: expect.stringContaining('refused the connection'),
    });
    const late = await startWorkflowServer(port);
    late.answer(says('Here again.'));
    expect(await talk.reply()).toBe('Here again.');
    const turn = await talk.turnIn('answered');
    expect(late.turns.map(({ body }) => body.turn_id)).toEqual([turn.turn_id]);
    expect(turn.attempts).toBeGreaterThan(1);
    await late.close();
  });

  it.each([404, 503])('is tried again after %i', async (status) => {
    stage.workflow.answer(answers({}, status), answers({}, status), says('Now.'));
    const talk = await stage.talk('hello');
    expect(await talk.reply()).toBe('Now.');
    const ids = stage.workflow.turns.map(({ body }) => body.turn_id);
    expect(new Set(ids).size).toBe(1);
    expect(await talk.turnIn('answered')).toMatchObject({ attempts: 3, problem: null });
  });

  it('fails its turn after 60 seconds: the customer gets the fixed sentence and a person', async () => {
    stage.workflow.answer(answers({ message: 'not registered' }, 404));
    const talk = await stage.talk('hello');
    await stage.workflow.turn();
    await passUntilFailed(talk);
    const turn = await turnOf(talk);
    const seconds = (Date.parse(turn.ended_at) - Date.parse(turn.started_at)) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(60);
    expect(seconds).toBeLessThan(75);
    expect(turn.attempts).toBeGreaterThanOrEqual(5);
    expect(turn.problem).toContain('404');
    expect(await talk.replies()).toEqual([FAILED]);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'agent_error', note: expect.stringContaining('not registered') },
    });
  });

  it('is not tried again when the customer wrote more: the next turn has it all', async () => {
    stage.workflow.answer(answers({}, 503), says('Both.'));
    const talk = await stage.talk('one');
    await stage.workflow.turn();
    await talk.write('two');
    expect(await talk.reply()).toBe('Both.');
    const [first, second] = stage.workflow.turns.map(({ body }) => body);
    expect(first.turn_id).not.toBe(second.turn_id);
    expect(stage.workflow.turns).toHaveLength(2);
  });
});

describe('401', () => {
  it('fails at once when the workflow was published more than a minute ago', async () => {
    skewMs += 120_000;
    stage.workflow.answer(answers({}, 401));
    const talk = await stage.talk('hello');
    expect(await talk.turnIn('failed')).toMatchObject({
      attempts: 1,
      problem: expect.stringContaining('401'),
    });
  });

  it('is tried again when the workflow was published within the last minute', async () => {
    stage.workflow.answer(answers({}, 401), says('Known now.'));
    const talk = await stage.talk('hello');
    expect(await talk.reply()).toBe('Known now.');
  });
});

describe('an unpublished workflow', () => {
  it('keeps its turns waiting until it is published again', async () => {
    await stage.api.delete(`/api/agent/webhook?${ownerQuery()}`);
    const talk = await stage.talk('hello');
    expect(await talk.turnIn('queued')).toMatchObject({ attempts: 0 });
    await waitFor('the reason', async () => (await turnOf(talk)).problem);
    expect(stage.workflow.turns).toHaveLength(0);
    await stage.publish();
    stage.workflow.answer(says('Published.'));
    expect(await talk.reply()).toBe('Published.');
  });

  it('leaves its turns to another brain that a member chooses', async () => {
    await stage.api.delete(`/api/agent/webhook?${ownerQuery()}`);
    const talk = await stage.talk('hello');
    await waitFor('the reason', async () => (await turnOf(talk))?.problem);
    await stage.api.patch('/api/agent', { use_webhook: false });
    skewMs += 10_000;
    expect(await talk.reply()).not.toBe(FAILED);
    expect(await talk.turnIn('superseded')).toMatchObject({
      problem: 'Another brain was chosen for the agent.',
    });
    expect(stage.workflow.turns).toHaveLength(0);
  });

  it('has its turns fail after 60 seconds, and no other brain answers', async () => {
    await stage.api.delete(`/api/agent/webhook?${ownerQuery()}`);
    const talk = await stage.talk('hello');
    await waitFor('the reason', async () => (await turnOf(talk))?.problem);
    await passUntilFailed(talk);
    expect(await talk.replies()).toEqual([FAILED]);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { note: 'No workflow is published as the agent.' },
    });
    expect(stage.workflow.turns).toHaveLength(0);
  });
});

describe('a workflow that does not answer in time', () => {
  it('fails its turn when the HTTP answer is late, and a reply after that is refused', async () => {
    await stage.publish({ timeout: 5 });
    stage.workflow.answer(hangs);
    const talk = await stage.talk('hello');
    const { body, closed } = await stage.workflow.turn();
    expect(await talk.reply()).toBe(FAILED);
    await closed;
    expect(await talk.turnIn('failed')).toMatchObject({
      problem: expect.stringMatching(/did not answer within 5 s/),
    });
    const late = await stage.operate(body.turn_id, 'replies', { text: 'Late.' });
    expect([late.status, late.body.error.code]).toEqual([409, 'turn_superseded']);
    expect(await talk.replies()).toEqual([FAILED]);
    expect(stage.workflow.turns).toHaveLength(1);
  });

  it('fails its turn when no reply follows a 202', async () => {
    const { talk } = await stage.acceptedTurn();
    skewMs += 62_000;
    expect(await talk.turnIn('failed')).toMatchObject({
      problem: expect.stringContaining('202'),
    });
    expect(await talk.replies()).toEqual([FAILED]);
  });

  it('fails its turn when it replied that more follows, and nothing came', async () => {
    const { talk, id } = await stage.acceptedTurn();
    await stage.operate(id, 'replies', { text: 'One moment.', more_follows: true });
    skewMs += 62_000;
    expect(await talk.turnIn('failed')).toMatchObject({
      messages_sent: 1,
      problem: expect.stringContaining('more follows'),
    });
    expect(await talk.replies()).toEqual(['One moment.', FAILED]);
    expect((await talk.record()).status).toBe('awaiting_human');
  });
});

it('a turn fails at once at an address that may not be called', async () => {
  await stage.service.restart({ ALLOWED_NETWORKS: '10.0.0.0/8' });
  const talk = await stage.talk('hello');
  expect(await talk.turnIn('failed')).toMatchObject({
    attempts: 1,
    problem: expect.stringMatching(/not public|private|may not be called|https/),
  });
  expect(stage.workflow.turns).toHaveLength(0);
  await stage.service.restart();
});
