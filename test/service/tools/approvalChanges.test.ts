import { describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import { agentSays, saidByAgent, type DefinedTool } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  callOf,
  conversation,
  decide,
  define,
  moveClock,
  now,
  requestApproval,
  untilCallIs,
  useApprovals,
  type Json,
} from './approvalStage.ts';
import { endpoint, holdNext, service } from './toolService.ts';

describe('a call that a person decides about, when something else changes,', () => {
  useApprovals();

  describe('survives a change of control', () => {
    const post = (id: string, action: string, body?: Json) =>
      service.api.post(`/api/conversations/${id}/${action}`, body);

    it.each(['takeover', 'messages'])(
      '%s: the agent tells the customer at the hand-back',
      async (action) => {
        const waiting = await requestApproval();
        const { customer, conversationId: id } = waiting;
        await post(id, action, action === 'messages' ? { text: 'I am here.' } : undefined);
        expect(await callOf(waiting)).toEqual(waiting.call);
        expect(await conversation(id)).toMatchObject({
          status: 'human_active',
          pending_approvals: 1,
        });
        endpoint.answer(waiting.tool.path, { json: { message: 'The table is booked.' } });
        await decide(waiting, 'approve');
        await untilCallIs(id, 'succeeded');
        expect(await saidByAgent(customer)).toHaveLength(1);
        await post(id, 'messages', { text: 'Your parcel has shipped.' });
        await post(id, 'handback');
        expect(await agentSays(customer, 2)).toBe('The table is booked.');
        expect((await customer.read()).at(-1)).toMatchObject({ from: 'agent' });
        expect(await conversation(id)).toMatchObject({ status: 'ai_active', pending_approvals: 0 });
      },
    );

    it('rejected while a person is in control: the agent tells the customer at the hand-back', async () => {
      const waiting = await requestApproval();
      await post(waiting.conversationId, 'takeover');
      await decide(waiting, 'reject', { note: 'Fully booked.' });
      await post(waiting.conversationId, 'messages', { text: 'I am here.' });
      await post(waiting.conversationId, 'handback');
      expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.approvalRejected.en);
      expect((await waiting.customer.read()).at(-1)).toMatchObject({ from: 'agent' });
    });

    it.each(['approve', 'reject'] as const)(
      'a decision to %s shows that the conversation has changed',
      async (verb) => {
        const waiting = await requestApproval();
        await post(waiting.conversationId, 'takeover');
        moveClock(1000);
        const since = now().toISOString();
        await decide(waiting, verb);
        const { body } = await service.api.get(`/api/conversations?updated_since=${since}`);
        expect(body.data.find(({ id }: Json) => id === waiting.conversationId)).toMatchObject({
          pending_approvals: 0,
        });
      },
    );

    it('handed back while it waits: it goes on waiting, and the agent tells how it ended', async () => {
      const waiting = await requestApproval();
      await post(waiting.conversationId, 'takeover');
      await post(waiting.conversationId, 'handback');
      expect(await callOf(waiting)).toEqual(waiting.call);
      endpoint.answer(waiting.tool.path, { json: { message: 'The table is booked.' } });
      await decide(waiting, 'approve');
      expect(await agentSays(waiting.customer, 2)).toBe('The table is booked.');
    });

    it('handed back after the agent handed over: it goes on waiting', async () => {
      const waiting = await requestApproval();
      await waiting.customer.write('I want to talk to a person');
      await waitFor(
        'the handover',
        async () => (await conversation(waiting.conversationId)).status === 'awaiting_human',
      );
      await post(waiting.conversationId, 'handback');
      expect(await callOf(waiting)).toEqual(waiting.call);
      expect((await conversation(waiting.conversationId)).pending_approvals).toBe(1);
    });
  });

  describe('is cancelled', () => {
    it('when the conversation is closed', async () => {
      const [waiting, other] = [await requestApproval(), await requestApproval()];
      await service.api.post(`/api/conversations/${waiting.conversationId}/close`, {
        summary: 'Done.',
        verdict: 'goal_reached',
      });
      expect(await callOf(waiting)).toMatchObject({
        status: 'cancelled',
        attempts: 0,
        decision: null,
        finished_at: expect.any(String),
      });
      expect((await conversation(waiting.conversationId)).pending_approvals).toBe(0);
      expect((await decide(waiting, 'approve')).body.error.code).toBe('approval_already_decided');
      expect((await callOf(other)).status).toBe('pending_approval');
      expect(await saidByAgent(waiting.customer)).toHaveLength(1);
      expect(endpoint.requests).toHaveLength(0);
    });

    const CHANGES: [string, (tool: DefinedTool) => Promise<unknown>][] = [
      [
        'edited',
        ({ id }) =>
          service.api.patch(`/api/tools/${id}`, {
            parameters: { type: 'object', properties: { n: {} } },
          }),
      ],
      [
        'given another address',
        ({ id }) => service.api.patch(`/api/tools/${id}`, { endpoint: `${endpoint.url}/other` }),
      ],
      ['paused', ({ id }) => service.api.post(`/api/tools/${id}/pause`)],
      ['removed', ({ id }) => service.api.delete(`/api/tools/${id}`)],
    ];
    it.each(CHANGES)(
      'when its tool is %s, in every conversation; the customers are told',
      async (_what, change) => {
        const tool = await define();
        const all = [await requestApproval(tool), await requestApproval(tool)];
        const other = await requestApproval();
        await change(tool);
        for (const waiting of all) {
          expect(await callOf(waiting)).toMatchObject({ status: 'cancelled', attempts: 0 });
          expect((await conversation(waiting.conversationId)).pending_approvals).toBe(0);
          expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.toolFailed.en);
          expect((await decide(waiting, 'approve')).status).toBe(409);
        }
        expect((await callOf(other)).status).toBe('pending_approval');
        expect(endpoint.requests).toHaveLength(0);
      },
    );
  });

  it('is not cancelled by an edit that leaves the call as it is, nor by another message of the customer', async () => {
    const waiting = await requestApproval();
    await service.api.patch(`/api/tools/${waiting.tool.id}`, {
      description: 'Other words.',
      timeout: 2,
    });
    await waiting.customer.write('hello?');
    await agentSays(waiting.customer, 2);
    expect(await callOf(waiting)).toEqual(waiting.call);
    expect((await decide(waiting, 'approve')).status).toBe(200);
    expect(await untilCallIs(waiting.conversationId, 'succeeded')).toMatchObject({
      tool_call_id: waiting.call.tool_call_id,
      attempts: 1,
    });
    expect(endpoint.at(waiting.tool.path)).toHaveLength(1);
  });

  it('gets no second attempt when its tool is removed during the first; the customer is told', async () => {
    const waiting = await requestApproval();
    const letGo = holdNext(waiting.tool.path);
    await decide(waiting, 'approve');
    await waitFor('the first attempt', () => endpoint.at(waiting.tool.path).length === 1);
    await service.api.delete(`/api/tools/${waiting.tool.id}`);
    await letGo(500);
    expect(await untilCallIs(waiting.conversationId, 'cancelled')).toMatchObject({
      attempts: 1,
      decision: { approved: true },
    });
    expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.toolFailed.en);
    expect(endpoint.at(waiting.tool.path)).toHaveLength(1);
  });

  it('goes on to its end when somebody takes over after it was approved; the agent says nothing until the hand-back', async () => {
    const waiting = await requestApproval();
    const letGo = holdNext(waiting.tool.path);
    await decide(waiting, 'approve');
    await waitFor('the first attempt', () => endpoint.at(waiting.tool.path).length === 1);
    const path = `/api/conversations/${waiting.conversationId}`;
    await service.api.post(`${path}/takeover`);
    await letGo(500);
    expect(await untilCallIs(waiting.conversationId, 'succeeded')).toMatchObject({ attempts: 2 });
    expect(endpoint.at(waiting.tool.path)).toHaveLength(2);
    expect(await saidByAgent(waiting.customer)).toHaveLength(1);
    await service.api.post(`${path}/messages`, { text: 'I am here.' });
    await service.api.post(`${path}/handback`);
    await agentSays(waiting.customer, 2);
    expect((await waiting.customer.read()).at(-1)).toMatchObject({ from: 'agent' });
  });
});
