import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  forgetContact,
  forgettingJobId,
} from '../../../service/src/conversations/contacts/forgetContact.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { decideToolCall } from '../../../service/src/tools/operations/completeToolCall.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { testDeps } from '../../helpers/testDeps.ts';
import {
  agentSays,
  ask,
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  wakeToolCalls,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const DAY_MS = 24 * 3_600_000;

describe('a call that a person decides about is told by events', () => {
  let receiver: EventReceiver;
  let service: TestService;
  let tools: ToolEndpoint;
  let aheadMs = 0;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    tools = await startToolEndpoint();
    service = await startTestService({
      ca: `${receiver.ca}\n${tools.ca}`,
      env: { ...TOOL_TEST_ENV, ...MEMBER_ENV },
      clock: { now: () => new Date(Date.now() + aheadMs) },
    });
    for (const event of ['approval.requested', 'approval.decided', 'conversation.awaiting_human'])
      await receiver.subscribe(service, event);
  });
  afterEach(async () => {
    for (const { id } of (await service.api.get('/api/tools')).body.data)
      await service.api.delete(`/api/tools/${id}`);
  });
  afterAll(async () => {
    await service?.stop();
    await tools?.close();
    await receiver?.close();
  });
  const requested = async () => {
    const tool = await tools.define(service.api, { name: 'book_table', ask_before_running: true });
    await makeLive(service.api, tool);
    const nth = receiver.payloads('approval.requested').length + 1;
    const { customer, conversationId } = await ask(service.url, tool);
    await agentSays(customer);
    return {
      tool,
      customer,
      conversationId,
      asked: await receiver.payload('approval.requested', nth),
    };
  };

  it('when it begins to wait, when it is decided, and when the agent hands over', async () => {
    const { customer, conversationId, asked } = await requested();
    const [call] = (await service.api.get('/api/tool-calls?status=pending_approval')).body.data;
    expect(asked).toMatchObject({
      conversation: { id: conversationId, status: 'ai_active' },
      approval: {
        tool_call_id: call.tool_call_id,
        tool: 'book_table',
        arguments: call.arguments,
        status: 'waiting',
        decision: null,
        requested_at: call.created_at,
        expires_at: call.expires_at,
      },
    });
    await service.api.post(`/api/tool-calls/${call.tool_call_id}/reject`, {
      note: 'Fully booked.',
    });
    expect((await receiver.payload('approval.decided')).approval).toMatchObject({
      tool_call_id: call.tool_call_id,
      status: 'rejected',
      decision: { approved: false, by: { type: 'api' }, note: 'Fully booked.' },
      expires_at: null,
    });
    await agentSays(customer, 2);
    await customer.write('yes');
    expect(await receiver.payload('conversation.awaiting_human')).toMatchObject({
      conversation: { id: conversationId, status: 'awaiting_human' },
      handover: { reason: 'tool_failure', note: null, triggered_by: { type: 'agent' } },
    });
  });

  it('when it ends without a decision: the tool was paused', async () => {
    const { tool, asked } = await requested();
    const { tool_call_id: id } = asked.approval;
    await service.api.post(`/api/tools/${tool.id}/pause`);
    const ended = await waitFor('the end', () =>
      receiver.payloads('approval.decided').find(({ approval }) => approval.tool_call_id === id),
    );
    expect(ended.approval).toMatchObject({ status: 'cancelled', decision: null });
  });

  describe('no longer, once its customer is forgotten and while their data is still there', () => {
    /** As `forgetContact`, when no worker comes to remove the rest. */
    const forget = async (store: ServiceStore, conversationId: string) => {
      const deps = { store, clock: systemClock };
      const { workspaceId, contactId } = (await store.transaction((tx) =>
        tx.conversations.peek(conversationId),
      ))!;
      const workspace = (await store.transaction((tx) => tx.workspaces.peek(workspaceId)))!;
      await forgetContact(deps, workspace, contactId, { type: 'team_member', name: 'ana' });
      await store.transaction((tx) => tx.jobs.complete(forgettingJobId(contactId)));
      return workspace;
    };
    /** How many ends of approvals were told so far. */
    const told = async (): Promise<number> => {
      const { body } = await service.api.get('/api/hooks');
      const hook = body.data.find(({ event }: { event: string }) => event === 'approval.decided');
      return (await service.api.get(`/api/hooks/${hook.id}/deliveries?limit=200`)).body.data.length;
    };
    /** The call as it is stored; the service has done the work that was due. */
    const storedCall = async (callId: string) => {
      await wakeToolCalls(service.api, tools);
      return service.changeStored((store) =>
        store.transaction(async (tx) => (await tx.toolCalls.peek(callId))!),
      );
    };

    it.each(['approve', 'reject'])('a card that is still open cannot %s it', async (verdict) => {
      const { tool, conversationId, asked } = await requested();
      const { tool_call_id: callId } = asked.approval;
      const before = await told();
      await service.changeStored((store) => forget(store, conversationId));
      const ben = await signedInBrowser(service.url);
      await ben.get('/waiting');
      const cards = ['/waiting', `/conversations/${conversationId}`];
      const answers: number[] = [];
      for (const card of cards)
        answers.push((await ben.post(`${card}/tool-calls/${callId}/decide`, { verdict })).status);
      answers.push((await service.api.post(`/api/tool-calls/${callId}/${verdict}`, {})).status);
      expect(answers).toEqual([404, 404, 404]);
      expect(await storedCall(callId)).toMatchObject({
        status: 'pending_approval',
        decision: null,
      });
      await service.api.delete(`/api/tools/${tool.id}`);
      expect(await told()).toBe(before);
    });

    it('it is not sent when it was approved just before', async () => {
      const { tool, conversationId, asked } = await requested();
      const { tool_call_id: callId } = asked.approval;
      const before = tools.at(tool.path).length;
      await service.changeStored(async (store) => {
        const deps = testDeps({ store, agent: { quietMs: 0, approvalExpiresMs: 1000 } });
        const [workspace] = await store.transaction((tx) =>
          tx.workspaces.find({ where: {}, limit: 1 }),
        );
        const by = { type: 'team_member', name: 'ben' } as const;
        await decideToolCall(deps, workspace!, callId, { approved: true, by, note: null });
        await forget(store, conversationId);
      });
      expect(await storedCall(callId)).toMatchObject({ status: 'cancelled', attempts: 0 });
      expect(tools.at(tool.path)).toHaveLength(before);
    });

    it('the page of its tool does not show it', async () => {
      const { tool, conversationId, asked } = await requested();
      const { tool_call_id: callId } = asked.approval;
      const ben = await signedInBrowser(service.url);
      const shown = async (path: string) => (await ben.get(path)).html;
      expect(await shown(`/tools/${tool.id}`)).toContain(callId);
      await service.changeStored((store) => forget(store, conversationId));
      const again = await signedInBrowser(service.url);
      for (const part of ['', '/fragment'])
        expect((await again.get(`/tools/${tool.id}${part}`)).html).not.toContain(callId);
      expect((await again.get(`/tools/${tool.id}?call=${callId}`)).status).toBe(404);
    });

    it('it expires without a word', async () => {
      const { conversationId, asked } = await requested();
      const { tool_call_id: callId } = asked.approval;
      const before = await told();
      await service.changeStored((store) => forget(store, conversationId));
      aheadMs += DAY_MS;
      expect((await storedCall(callId)).status).toBe('expired');
      expect(await told()).toBe(before);
    });
  });
});
