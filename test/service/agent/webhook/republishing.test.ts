// Publishing again while a turn is under way: in n8n that is unpublishing and publishing, which takes
// a moment.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { held } from '../agentService.ts';
import {
  accepts,
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

it('lets the turn under way finish with the answer that was being given', async () => {
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

it('lets a turn finish that is answered by the API', async () => {
  stage.workflow.answer(accepts);
  const talk = await stage.talk('Hello?');
  const { body } = await stage.workflow.turn();
  await unpublish();
  await stage.publish({ timeout: 90 });
  expect((await stage.operate(body.turn_id, 'replies', { text: 'Here I am.' })).status).toBe(201);
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

it('with the secret that the publisher holds changes nothing for the next turn', async () => {
  const { secret } = await stage.publish();
  expect((await stage.publish({ secret_hash: hashOf(secret) })).secret).toBeNull();
  const talk = await stage.talk('Hello?');
  expect(await talk.reply()).toBe('Hello.');
  expect(stage.workflow.faults).toEqual([]);
});

it('by another workflow that takes over gets the next turn, and the one under way finishes', async () => {
  const late = held(says('From the former.'));
  stage.workflow.answer(late.reply, says('From the next.'));
  const talk = await stage.talk('Hello?');
  await stage.workflow.turn();
  const owner = { ...OWNER, workflow_id: 'wf-2', workflow_name: 'Night shift' };
  const { revision } = await stage.publish({ owner, take_over: true });
  void late.give();
  expect(await talk.reply()).toBe('From the former.');
  expect(await unpublish()).toBe(false);
  await talk.write('And now?');
  expect(await talk.reply(2)).toBe('From the next.');
  expect(await unpublish({ workflow_id: 'wf-2', revision: String(revision) })).toBe(true);
  await stage.publish();
});
