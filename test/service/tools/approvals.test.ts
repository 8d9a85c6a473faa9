import { describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../service/src/agent/keyword/sentences.ts';
import { signedInBrowser } from '../../helpers/browserless.ts';
import { agentSays, ask, makeLive, saidByAgent } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  callOf,
  conversation,
  decide,
  define,
  later,
  moveClock,
  requestApproval,
  untilCallIs,
  useApprovals,
  type Json,
} from './approvalStage.ts';
import { endpoint, service } from './toolService.ts';

const DAY_MS = 24 * 3_600_000;

describe('a call that a person decides about', () => {
  useApprovals();

  it('waits, is counted on its conversation, and nothing is sent', async () => {
    const { call, conversationId, tool } = await requestApproval();
    expect(call).toMatchObject({
      status: 'pending_approval',
      attempts: 0,
      http_status: null,
      result: null,
      error: null,
      decision: null,
      finished_at: null,
    });
    expect(Date.parse(call.expires_at) - Date.parse(call.created_at)).toBe(DAY_MS);
    expect(await conversation(conversationId)).toMatchObject({
      status: 'ai_active',
      pending_approvals: 1,
    });
    expect(
      (await service.api.get(`/api/tool-calls?status=pending_approval&tool=${tool.name}`)).body
        .data,
    ).toHaveLength(1);
    expect(endpoint.requests).toHaveLength(0);
  });

  it('a test call from the definition asks nobody', async () => {
    const tool = await define();
    expect((await service.api.post(`/api/tools/${tool.id}/test`, {})).body).toMatchObject({
      status: 'succeeded',
      decision: null,
    });
  });

  it('runs once under its own id when it is approved; the decision is on record and the customer is told', async () => {
    const waiting = await requestApproval();
    endpoint.answer(waiting.tool.path, 502, { json: { message: 'It is booked.' } });
    const { status, body } = await decide(waiting, 'approve', {
      note: 'Checked with the kitchen.',
    });
    expect([status, body.tool_call_id]).toEqual([200, waiting.call.tool_call_id]);
    expect(body.decision).toEqual({
      approved: true,
      by: { type: 'api', name: expect.any(String) },
      note: 'Checked with the kitchen.',
      at: expect.stringMatching(/\+00:00$/),
    });
    expect(await agentSays(waiting.customer, 2)).toBe('It is booked.');
    expect(await callOf(waiting)).toMatchObject({
      status: 'succeeded',
      attempts: 2,
      expires_at: null,
      decision: body.decision,
      result: { message: 'It is booked.' },
    });
    expect(endpoint.envelopes(waiting.tool.path).map((envelope) => envelope.tool_call_id)).toEqual([
      waiting.call.tool_call_id,
      waiting.call.tool_call_id,
    ]);
    expect((await conversation(waiting.conversationId)).pending_approvals).toBe(0);
    expect(await saidByAgent(waiting.customer)).toHaveLength(2);
  });

  it('may fail after it was approved; the customer is told', async () => {
    const waiting = await requestApproval();
    endpoint.answer(waiting.tool.path, 404);
    await decide(waiting, 'approve');
    expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.toolFailed.en);
    expect(await callOf(waiting)).toMatchObject({
      status: 'failed',
      attempts: 1,
      decision: { approved: true },
    });
  });

  it('leaves its customer to the team when the agent is off as it ends', async () => {
    const waiting = await requestApproval();
    const member = await signedInBrowser(service.url);
    await service.api.patch('/api/agent', { enabled: false });
    await decide(waiting, 'approve');
    await waitFor('the customer among those who wait', async () =>
      (await member.get('/conversations?tab=waiting')).html.includes(waiting.conversationId),
    );
    await service.api.patch('/api/agent', { enabled: true });
  });

  it('is not made when it is rejected; the customer is told, and a person is offered and fetched', async () => {
    const waiting = await requestApproval();
    const { body } = await decide(waiting, 'reject', { note: 'Too late.' });
    expect(body).toMatchObject({
      status: 'rejected',
      attempts: 0,
      decision: { approved: false, note: 'Too late.', by: { type: 'api' } },
      finished_at: expect.any(String),
    });
    expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.approvalRejected.en);
    expect(await conversation(waiting.conversationId)).toMatchObject({
      status: 'ai_active',
      pending_approvals: 0,
    });
    await waiting.customer.write('yes please');
    expect(await agentSays(waiting.customer, 3)).toBe(SENTENCES.handOverOnRequest.en);
    expect((await conversation(waiting.conversationId)).status).toBe('awaiting_human');
    expect(endpoint.requests).toHaveLength(0);
  });

  it('expires when nobody decides; the customer is told', async () => {
    const waiting = await requestApproval();
    await later(DAY_MS - 60_000);
    expect((await callOf(waiting)).status).toBe('pending_approval');
    await later(61_000);
    expect(await untilCallIs(waiting.conversationId, 'expired')).toMatchObject({
      attempts: 0,
      decision: null,
      error: null,
    });
    expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.approvalExpired.en);
    expect((await conversation(waiting.conversationId)).pending_approvals).toBe(0);
    expect((await decide(waiting, 'approve')).body.error.code).toBe('approval_already_decided');
    expect(endpoint.at(waiting.tool.path)).toHaveLength(0);
  });

  it('cannot be approved once its time is over, even if the service has not noticed yet', async () => {
    const waiting = await requestApproval();
    moveClock(DAY_MS + 1);
    const { status, body } = await decide(waiting, 'approve');
    expect([status, body.error.code]).toEqual([409, 'approval_already_decided']);
    await untilCallIs(waiting.conversationId, 'expired');
    expect(endpoint.requests).toHaveLength(0);
  });

  it('expires after APPROVAL_EXPIRES_MS', async () => {
    await service.restart({ APPROVAL_EXPIRES_MS: '3600000' });
    const waiting = await requestApproval();
    expect(Date.parse(waiting.call.expires_at) - Date.parse(waiting.call.created_at)).toBe(
      3_600_000,
    );
    await later(3_601_000);
    expect(await agentSays(waiting.customer, 2)).toBe(SENTENCES.approvalExpired.en);
    await service.restart({});
  });

  it('survives a restart: it can be decided, and it still expires', async () => {
    const tool = await define();
    const [decided, forgotten] = [await requestApproval(tool), await requestApproval(tool)];
    await service.restart();
    expect(await callOf(decided)).toEqual(decided.call);
    expect((await conversation(decided.conversationId)).pending_approvals).toBe(1);
    expect((await decide(decided, 'approve')).status).toBe(200);
    await untilCallIs(decided.conversationId, 'succeeded');
    await later(DAY_MS + 1000);
    await untilCallIs(forgotten.conversationId, 'expired');
    expect(endpoint.envelopes(tool.path).map((envelope) => envelope.tool_call_id)).toEqual([
      decided.call.tool_call_id,
    ]);
  });

  it.each([
    ['approve', 'approve'],
    ['reject', 'reject'],
    ['approve', 'reject'],
  ] as const)(
    'counts only the first of three decisions made at once: %s, %s, and the first again',
    async (first, second) => {
      const waiting = await requestApproval();
      const answers = await Promise.all([
        decide(waiting, first, { note: 'first' }),
        decide(waiting, second, { note: 'second' }),
        decide(waiting, first, { note: 'third' }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      for (const { status, body } of answers)
        if (status === 409) expect(body.error.code).toBe('approval_already_decided');
      const winner = answers.find(({ status }) => status === 200)!.body;
      const ended = await untilCallIs(waiting.conversationId, 'succeeded', 'rejected');
      expect([ended.decision, ended.status]).toEqual([
        winner.decision,
        winner.decision.approved ? 'succeeded' : 'rejected',
      ]);
      await agentSays(waiting.customer, 2);
      expect(endpoint.at(waiting.tool.path)).toHaveLength(winner.decision.approved ? 1 : 0);
      expect((await conversation(waiting.conversationId)).pending_approvals).toBe(0);
    },
  );

  it('cannot be decided again, nor can a call that needs no decision; a bad note and an unknown call are refused', async () => {
    const waiting = await requestApproval();
    await decide(waiting, 'approve');
    await untilCallIs(waiting.conversationId, 'succeeded');
    const tested = (await service.api.post(`/api/tools/${waiting.tool.id}/test`, {})).body;
    for (const call of [waiting.call, tested])
      for (const verb of ['approve', 'reject'] as const)
        expect((await decide({ call }, verb)).status).toBe(409);
    for (const note of ['', ' ', 5, 'x'.repeat(1001)])
      expect((await decide(waiting, 'approve', { note })).status).toBe(400);
    expect((await service.api.post('/api/tool-calls/call_none/approve', {})).status).toBe(404);
  });

  it('is decided once for one Idempotency-Key, and the answer is given again', async () => {
    const waiting = await requestApproval();
    const approve = () =>
      service.api.post(
        `/api/tool-calls/${waiting.call.tool_call_id}/approve`,
        { note: 'Once.' },
        { 'idempotency-key': waiting.call.tool_call_id },
      );
    const answers = await Promise.all([approve(), approve(), approve()]);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]!.body]);
    await untilCallIs(waiting.conversationId, 'succeeded');
    expect((await approve()).body).toEqual(answers[0]!.body);
    expect(endpoint.at(waiting.tool.path)).toHaveLength(1);
  });

  it('is counted beside another of the same conversation, and both end with it', async () => {
    const [tool, second] = [await define(), await define()];
    const waiting = await requestApproval(tool);
    await waiting.customer.write(second.name.replaceAll('_', ' '));
    await waitFor(
      'the second',
      async () => (await conversation(waiting.conversationId)).pending_approvals === 2,
    );
    await decide(waiting, 'reject');
    expect((await conversation(waiting.conversationId)).pending_approvals).toBe(1);
    await service.api.post(`/api/conversations/${waiting.conversationId}/close`, {
      summary: 'Done.',
      verdict: 'unknown',
    });
    expect((await conversation(waiting.conversationId)).pending_approvals).toBe(0);
    expect(
      (
        await service.api.get(`/api/tool-calls?conversation_id=${waiting.conversationId}`)
      ).body.data.map(({ status }: Json) => status),
    ).toEqual(['cancelled', 'rejected']);
    expect(endpoint.requests).toHaveLength(0);
  });

  it("shows none of the customer's contact details, wherever they stand", async () => {
    const claims = { name: 'Maria', phone: '+54 9 11 5555 0134', email: 'maria.lopez@example.com' };
    const parameters = {
      type: 'object',
      properties: { question: { type: 'string', description: 'What the customer asks' } },
      required: ['question'],
    };
    const tool = await endpoint.define(service.api, {
      name: 'answer_question',
      description: 'Answers any question of a customer.',
      parameters,
      ask_before_running: true,
    });
    await makeLive(service.api, tool, { question: 'x' });
    const { customer, conversationId } = await ask(
      service.url,
      tool,
      'for maria.lopez@example.com or 011 5555 0134, order 77001122?',
      claims,
    );
    const call = await untilCallIs(conversationId, 'pending_approval');
    endpoint.answer(tool.path, {
      json: {
        mail: 'MARIA.LOPEZ@example.com',
        number: 5491155550134,
        list: [{ '+5491155550134': '11 5555-0134' }],
        order: 77001122,
      },
    });
    await decide({ call }, 'approve', {
      note: 'Rang 011 5555 0134, wrote to maria.lopez@example.com.',
    });
    const ended = await untilCallIs(conversationId, 'succeeded');
    await agentSays(customer, 2);
    const shown = JSON.stringify([
      call,
      ended,
      (await service.api.get(`/api/tool-calls?conversation_id=${conversationId}`)).body,
      await conversation(conversationId),
    ]);
    expect(shown).not.toMatch(/lopez|5491155550134|5555.{0,2}0134/i);
    expect(ended.result.order).toBe(77001122);
    expect(call.arguments.question).toContain('order 77001122');
    expect(ended.decision.note).toMatch(/^Rang .*•/);
  });
});
