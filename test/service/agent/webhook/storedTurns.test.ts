// What is stored of turns: how long it is kept, and that it can be moved.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { sweepAll } from '../../../../service/src/app/retention/housekeeping.ts';
import { answerTurn } from '../../../../service/src/agent/webhook/operations/answerTurn.ts';
import { publishWebhook } from '../../../../service/src/agent/webhook/operations/publishWebhook.ts';
import { tryWorkflow } from '../../../../service/src/agent/webhook/operations/tryWorkflow.ts';
import { beginTurn } from '../../../../service/src/agent/webhook/beginTurn.ts';
import { loadTurn } from '../../../../service/src/agent/turn/loadTurn.ts';
import { recordOutcome } from '../../../../service/src/agent/turn/recordOutcome.ts';
import { startChatSession } from '../../../../service/src/channels/web_chat/chatOperations.ts';
import { receiveMessage } from '../../../../service/src/conversations/operations/receiveMessage.ts';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import { createSecretBox } from '../../../../service/src/platform/security/secretBox.ts';
import type { ServiceStore } from '../../../../service/src/store/collections.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import type { Workspace } from '../../../../service/src/team/workspace.ts';
import { collectWait } from '../../../../service/src/waits/operations/collectWait.ts';
import { decideWait } from '../../../../service/src/waits/operations/decideWait.ts';
import { openWait } from '../../../../service/src/waits/operations/openWait.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';
import { testDeps } from '../../../helpers/testDeps.ts';

const DAY_MS = 86_400_000;
const AGENT = { quietMs: 0, approvalExpiresMs: 60_000 };
const OWNER = {
  instanceId: 'n8n-1',
  workflowId: 'wf-1',
  workflowName: 'Support',
  nodeId: 'node-1',
  host: 'n8n.example.com',
};
const LEASE = { covers: () => true };

let fresh: FreshStore;
let deps: Deps;
let workspace: Workspace;
let nowMs: number;
const secrets = createSecretBox(randomBytes(32));
const depsOf = (store: ServiceStore) =>
  testDeps({ store, secrets, agent: AGENT, clock: { now: () => new Date(nowMs) } });

beforeEach(async () => {
  nowMs = Date.parse('2026-06-01T12:00:00Z');
  fresh = await openFreshStore();
  deps = depsOf(fresh.store);
  workspace = await createWorkspace(deps, 'Test');
  await publishWebhook(deps, workspace, {
    endpoint: 'https://n8n.example.com/webhook/agent',
    timeoutSeconds: 60,
    owner: OWNER,
    secretHash: null,
    takeOver: false,
    turnOn: true,
    keepSettings: false,
  });
});
afterEach(() => fresh.remove());

/** A turn that was sent. @returns its id */
async function sentTurn(): Promise<string> {
  const visitor = { name: null, phone: null, email: null };
  const { contact } = await startChatSession(deps, workspace, visitor);
  const message = { text: 'hello', channelMessageId: '1' };
  const { conversationId } = await receiveMessage(deps, workspace, contact.id, message);
  const loaded = await loadTurn(deps, conversationId);
  await recordOutcome(deps, loaded!, { type: 'deferred', notices: [] });
  const where = { conversationId };
  const [turn] = await fresh.store.transaction((tx) => tx.webhookTurns.find({ where, limit: 1 }));
  expect(await beginTurn(deps, { id: turn!.id, runAt: nowMs }, LEASE)).toMatchObject({
    type: 'send',
  });
  return turn!.id;
}

const says = (text: string) => ({ texts: [text], then: { type: 'end' } }) as const;
const idsOf = (store: ServiceStore) =>
  store.transaction(async (tx) =>
    (await tx.webhookTurns.find({ where: {}, limit: 100 })).map(({ id }) => id),
  );

it('a turn is removed after RETENTION_DAYS, a try too; one that has not ended stays', async () => {
  const [ended, open] = [await sentTurn(), await sentTurn()];
  await answerTurn(deps, workspace, ended, says('Hi.'));
  const tried = await tryWorkflow(deps, workspace, 'hello');
  await beginTurn(deps, { id: tried.id, runAt: nowMs }, LEASE);
  await answerTurn(deps, workspace, tried.id, says('Hi.'));
  nowMs += 29 * DAY_MS;
  await sweepAll(fresh.store, new Date(nowMs), { days: 30, conversationDays: 0 });
  expect(await idsOf(fresh.store)).toEqual([ended, open, tried.id].toSorted());
  nowMs += 2 * DAY_MS;
  await sweepAll(fresh.store, new Date(nowMs), { days: 30, conversationDays: 0 });
  expect(await idsOf(fresh.store)).toEqual([open]);
});

it('a turn is removed with its conversation, which stays while a turn has not ended', async () => {
  const [ended, open] = [await sentTurn(), await sentTurn()];
  await answerTurn(deps, workspace, ended, says('Hi.'));
  nowMs += 11 * DAY_MS;
  await sweepAll(fresh.store, new Date(nowMs), { days: 30, conversationDays: 10 });
  expect(await idsOf(fresh.store)).toEqual([open]);
});

it('a resting turn moves to another store with its question, and goes on there with the answer', async () => {
  const id = await sentTurn();
  const asker = { apiKeyId: 'key_1', actor: { type: 'api', name: 'n8n' } } as const;
  const wanted = {
    kind: 'decision',
    conversationId: null,
    turnId: id,
    message: 'Refund 49 EUR?',
    details: null,
    approveLabel: null,
    rejectLabel: null,
    accept: { type: 'any', choices: [] },
    retryMessage: null,
    maxAttempts: 3,
    remindAfterSeconds: null,
    remindMessage: null,
    expiresAt: new Date(nowMs + DAY_MS).toISOString(),
    resumeUrl: 'https://n8n.example.com/webhook-waiting/1',
  } as const;
  const { wait } = await openWait(deps, workspace, wanted, asker);
  const other = await openFreshStore();
  try {
    await other.store.restore(fresh.store.dump());
    const there = depsOf(other.store);
    const turnThere = () => other.store.transaction((tx) => tx.webhookTurns.peek(id));
    expect(await turnThere()).toMatchObject({ status: 'suspended', openWaits: 1, deadline: null });
    const by = { type: 'team_member', name: 'Ana' } as const;
    await decideWait(there, workspace, wait.id, { approved: true, by, note: 'Go.' });
    expect(await turnThere()).toMatchObject({ status: 'running', openWaits: 0 });
    const collected = await collectWait(there, workspace, wait.id);
    expect(collected.wait).toMatchObject({ turnId: id, decision: { note: 'Go.' } });
    const answered = await answerTurn(there, workspace, id, says('Refunded.'));
    expect(answered.messages).toMatchObject([{ text: 'Refunded.' }]);
  } finally {
    await other.remove();
  }
});

it('a turn moves to another store with the webhook, and is answered there', async () => {
  const id = await sentTurn();
  const other = await openFreshStore();
  try {
    await other.store.restore(fresh.store.dump());
    const there = depsOf(other.store);
    const [webhook, turn] = await other.store.transaction(async (tx) => [
      await tx.agentWebhooks.peek(workspace.id),
      await tx.webhookTurns.peek(id),
    ]);
    expect(secrets.open(webhook!.sealedSecret)).toMatch(/^whsec_/);
    expect(turn).toMatchObject({ status: 'running', attempts: 1 });
    expect(await other.store.msUntilDue('webhook_turns')).not.toBeNull();
    const answered = await answerTurn(there, workspace, id, says('Moved.'));
    expect(answered).toMatchObject({
      turn: { status: 'answered' },
      messages: [{ text: 'Moved.' }],
    });
  } finally {
    await other.remove();
  }
});
