// A process begins what it has claimed when its lease is all but over, and another process has
// begun it already.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { beginAttempt } from '../../../service/src/channels/outbound/attempts.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import { createChannel } from '../../../service/src/channels/operations/channels.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { receiveInbound } from '../../../service/src/channels/operations/receiveInbound.ts';
import { sendMessage } from '../../../service/src/conversations/operations/sendMessage.ts';
import { TOOL_CALL_QUEUE } from '../../../service/src/tools/calls/toolCall.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import { beginToolCall } from '../../../service/src/tools/calls/beginToolCall.ts';
import { unwatchedBounds } from '../../../service/src/platform/limits/bounds.ts';
import { Lease, startWorker } from '../../../service/src/platform/jobs/worker.ts';
import { askForRefund } from '../tools/askForRefund.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { TestClock } from '../../helpers/testClock.ts';
import { testDeps } from '../../helpers/testDeps.ts';

const LEASE_MS = 60_000;
const RECORD_MS = 10_000;
const TIMEOUT_MS = 10_000;
/** 5 s for a free connection, 30 s until a large answer is read. */
const ATTEMPT_MS = 5_000 + TIMEOUT_MS + 30_000;

describe('what was claimed and begun late', () => {
  let clock: TestClock;
  let fresh: FreshStore;
  let store: ServiceStore;
  let deps: Deps;
  let workspace: Workspace;
  beforeEach(async () => {
    clock = new TestClock();
    fresh = await openFreshStore({ clock });
    ({ store } = fresh);
    const agent = { quietMs: 0, approvalExpiresMs: 60_000 };
    deps = testDeps({ store, clock, agent });
    workspace = await createWorkspace(deps, 'Test');
  });
  afterEach(() => fresh.remove());

  /**
   * A process claims, and stands still until too little of its lease is left. Then another process
   * claims.
   * @param attemptMs how long an attempt may take
   */
  const leases = (attemptMs: number) => {
    const late = new Lease(clock, LEASE_MS);
    clock.advance(LEASE_MS - attemptMs - RECORD_MS + 1);
    return { late, current: new Lease(clock, LEASE_MS) };
  };

  it('a call of the HTTP kind that another process has sent is not taken for interrupted', async () => {
    const template = { method: 'POST', url: 'https://tools.example.com/refund', body: {} };
    const conversationId = await askForRefund(deps, workspace, {
      kind: 'HTTP',
      endpoint: null,
      requestTemplate: template,
      askBeforeRunning: false,
    });
    const { id } = (
      await store.transaction((tx) => tx.toolCalls.find({ where: { conversationId }, limit: 1 }))
    )[0]!;
    const call = () => store.transaction((tx) => tx.toolCalls.peek(id));

    const { late, current } = leases(ATTEMPT_MS);
    expect(await beginToolCall(deps, id, late)).toBeNull();
    expect(await call()).toMatchObject({ status: 'running', attempts: 0 });
    expect(await beginToolCall(deps, id, current)).toMatchObject({
      call: { attempts: 1, isUnderWay: true },
    });
    clock.advance(ATTEMPT_MS);
    expect(await beginToolCall(deps, id, late)).toBeNull();
    expect(await call()).toMatchObject({ status: 'running', attempts: 1, isUnderWay: true });
    // After a crash, the call is taken for interrupted.
    expect(await beginToolCall(deps, id, current)).toBeNull();
    expect(await call()).toMatchObject({ status: 'failed', error: { type: 'interrupted' } });
  });

  it('a text that another process has sent is not taken for interrupted', async () => {
    const channel = await createChannel(deps, workspace, {
      type: 'whatsapp_cloud',
      name: 'Shop',
      values: { phone_number_id: '106540352242922', access_token: 'EAAG1', app_secret: 'abc' },
    });
    await receiveInbound(deps, channel, [
      {
        type: 'message',
        account: channel.account!,
        from: { phone: '5491155550001', userId: null, name: null },
        id: 'wamid.1',
        text: 'hi',
        sentAt: clock.now(),
      },
    ]);
    const [conversation] = await store.transaction((tx) =>
      tx.conversations.find({ where: { workspaceId: workspace.id }, limit: 1 }),
    );
    await sendMessage(deps, workspace, conversation!.id, 'hello', { type: 'api', name: 'test' });
    const job = { id: conversation!.contactId, runAt: clock.now().getTime() };
    const policy = { retryDelaysMs: [1_000], graceMs: 15_000 };
    const outbound = async () =>
      (
        await store.transaction((tx) =>
          tx.outboundMessages.find({ where: { contactId: job.id }, limit: 1 }),
        )
      )[0];

    const { late, current } = leases(TIMEOUT_MS);
    const covered = (lease: Lease) => () => lease.covers(TIMEOUT_MS);
    expect(await beginAttempt(deps, job, policy, covered(late))).toBeNull();
    expect(await beginAttempt(deps, job, policy, covered(current))).toMatchObject({
      outbound: { attempts: 1, isUnderWay: true },
    });
    expect(await beginAttempt(deps, job, policy, covered(late))).toBeNull();
    expect(await outbound()).toMatchObject({
      status: 'pending',
      attempts: 1,
      isUnderWay: true,
      nextAttemptAt: null,
    });
    // After a crash, the attempt is taken for interrupted.
    expect(await beginAttempt(deps, job, policy, covered(current))).toBeNull();
    expect(await outbound()).toMatchObject({ status: 'pending', attempts: 1, isUnderWay: false });
    expect((await outbound())!.nextAttemptAt).not.toBeNull();
  });

  it('is known by its lease, which counts from before the claim was asked for', async () => {
    await store.transaction((tx) =>
      tx.jobs.enqueue({
        id: 'job',
        queue: TOOL_CALL_QUEUE,
        group: 'g',
        runAt: clock.now().getTime(),
        rank: 0,
        data: {},
      }),
    );
    const given = Promise.withResolvers<Lease>();
    const claim: typeof store.claim = async (request) => {
      const jobs = await store.claim(request);
      clock.advance(1_000); // as long as the answer takes
      return jobs;
    };
    const worker = startWorker({
      deps: {
        store: {
          claim,
          msUntilDue: (queue) => store.msUntilDue(queue),
          onWork: (call, queue) => store.onWork(call, queue),
        },
        clock,
        bounds: unwatchedBounds,
      },
      log: pino({ level: 'silent' }),
      queue: TOOL_CALL_QUEUE,
      maxPerWorkspace: 1,
      leaseMs: LEASE_MS,
      run: async (_job, context) => given.resolve(context.lease),
      onFailure: { message: 'failed', idField: 'job' },
    });
    const lease = await given.promise;
    await worker.stop();
    clock.advance(LEASE_MS - RECORD_MS - TIMEOUT_MS - 1_000);
    expect(lease.covers(TIMEOUT_MS)).toBe(true);
    clock.advance(1);
    expect(lease.covers(TIMEOUT_MS)).toBe(false);
  });
});
