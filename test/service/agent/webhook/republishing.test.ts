// Publishing again while a turn is under way: n8n unpublishes first, and publishes a moment later.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { held } from '../agentService.ts';
import {
  OWNER,
  ownerQuery,
  says,
  startWorkflowStage,
  type WorkflowStage,
} from './workflowStage.ts';

let stage: WorkflowStage;
beforeAll(async () => {
  stage = await startWorkflowStage();
});
beforeEach(() => stage.workflow.forget());
afterAll(() => stage?.close());

const unpublish = async (changes = {}) =>
  (await stage.api.delete(`/api/agent/webhook?${ownerQuery(changes)}`)).body.removed;
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

it('lets the turn under way finish with the answer to its request', async () => {
  const late = held(says('Here I am.'));
  stage.workflow.answer(late.reply);
  const talk = await stage.talk('Hello?');
  await stage.workflow.turn();
  expect(await unpublish()).toBe(true);
  await stage.publish();
  void late.give();
  expect(await talk.reply()).toBe('Here I am.');
  expect(await talk.turns()).toMatchObject([{ status: 'answered', outcome: 'reply', attempts: 1 }]);
});

it('lets a turn that is answered through the API finish', async () => {
  const { talk, id } = await stage.acceptedTurn('Hello?');
  await unpublish();
  await stage.publish({ timeout: 90 });
  expect((await stage.operate(id, 'replies', { text: 'Here I am.' })).status).toBe(201);
  expect(await talk.replies()).toEqual(['Here I am.']);
});

it('sends what customers write in between to the new publication, signed with its secret', async () => {
  await unpublish();
  const talk = await stage.talk('Hello?');
  expect(await talk.turnIn('queued')).toMatchObject({ conversation_id: talk.id });
  await stage.publish();
  expect(await talk.reply()).toBe('Hello.');
  expect(stage.workflow.faults).toEqual([]);
});

it('changes nothing for the next turn when the publisher holds the secret', async () => {
  const { secret } = await stage.publish();
  expect((await stage.publish({ secret_hash: hashOf(secret) })).secret).toBeNull();
  const talk = await stage.talk('Hello?');
  expect(await talk.reply()).toBe('Hello.');
  expect(stage.workflow.faults).toEqual([]);
});

it('gives the next turn to a workflow that takes over, and the one under way finishes', async () => {
  const late = held(says('From the former workflow.'));
  stage.workflow.answer(late.reply, says('From the next workflow.'));
  const talk = await stage.talk('Hello?');
  await stage.workflow.turn();
  const owner = { ...OWNER, workflow_id: 'wf-2', workflow_name: 'Night shift' };
  const { revision } = await stage.publish({ owner, take_over: true });
  void late.give();
  expect(await talk.reply()).toBe('From the former workflow.');
  expect(await unpublish()).toBe(false);
  await talk.write('And now?');
  expect(await talk.reply(2)).toBe('From the next workflow.');
  expect(await unpublish({ workflow_id: 'wf-2', revision: String(revision) })).toBe(true);
  await stage.publish();
});
