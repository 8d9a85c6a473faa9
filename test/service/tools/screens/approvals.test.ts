import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startTestService } from '../../../helpers/service.ts';
import {
  TOOL_TEST_ENV,
  agentSays,
  ask,
  callIn,
  makeLive,
  type DefinedTool,
} from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { endpoint, service, useToolService } from '../toolService.ts';

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> & \u202egnp.exe';

const PARAMETERS = {
  type: 'object',
  properties: {
    order_number: { type: 'string', title: 'Order' },
    refund_amount: { type: 'number', description: 'Amount to pay back' },
    dueDate: { type: 'string' },
  },
  required: ['order_number'],
};

const DAY_MS = 86_400_000;

describe('an approval on the conversations screen', () => {
  let clockAheadMs = 0;
  useToolService({
    env: { ...MEMBER_ENV, ...TOOL_TEST_ENV },
    clock: { now: () => new Date(Date.now() + clockAheadMs) },
  });
  let ana: Browserless;
  let secondBrowser: Browserless;
  let tool: DefinedTool;

  beforeAll(async () => {
    [ana, secondBrowser] = [await signedInBrowser(service.url), await signedInBrowser(service.url)];
    tool = await endpoint.define(service.api, {
      name: 'cancel_order',
      parameters: PARAMETERS,
      ask_before_running: true,
    });
    await makeLive(service.api, tool, { order_number: '1' });
  });
  beforeEach(() => endpoint.forget());

  /** A customer asks for a call that needs approval, and is told to wait for it. */
  const requestApproval = async () => {
    const { customer, conversationId: id } = await ask(service.url, tool, '20481', {
      name: 'Clara',
    });
    const { tool_call_id: callId } = await callIn(
      service.api,
      `conversation_id=${id}`,
      'pending_approval',
    );
    await agentSays(customer);
    const path = `/conversations/${id}`;
    return {
      customer,
      id,
      callId,
      path,
      decide: `${path}/tool-calls/${callId}/decide`,
    };
  };
  const callOf = async (id: string) => (await service.api.get(`/api/tool-calls/${id}`)).body;

  it('shows the tool, its labelled arguments, the host, the age and the expiry, and is counted in the list', async () => {
    const { path, id } = await requestApproval();
    const page = await ana.get(path);
    expect(page.text).toContain(
      `Allow the agent to run Cancel order ? needs approval Order 20481 Calls ${new URL(endpoint.url).host} . Requested now , expires in 1 day . Approve Reject`,
    );
    const list = await ana.get('/conversations');
    expect(list.text).toMatch(/1 approval is waiting for your decision.*Clara .* Needs approval/);
    const approvals = await ana.get('/conversations?tab=approvals');
    expect(approvals.html).toContain(id);
    // A search typed on this tab looks in all conversations.
    expect(approvals.html).not.toContain('name="tab"');
    await ana.post(`${path}/close`, { verdict: 'unknown', summary: 'x' });
    expect((await ana.get('/conversations?tab=approvals')).text).toContain(
      'No tool calls are waiting for a decision.',
    );
  });

  it('can be decided on the screen of everything that waits', async () => {
    const [first, second] = [await requestApproval(), await requestApproval()];
    const { text } = await ana.get('/waiting');
    expect(text).toMatch(
      /Conversation with Clara Allow the agent to run Cancel order \? .* Approve Reject Reason/,
    );
    expect((await ana.get('/waiting/count')).html).toBe('2');
    const approve = `/waiting/tool-calls/${first.callId}/decide`;
    const done = await ana.post(approve, { verdict: 'approve' });
    expect(done.path).toBe('/waiting?notice=approved');
    await waitFor('the call', async () => (await callOf(first.callId)).status === 'succeeded');
    const reject = `/waiting/tool-calls/${second.callId}/decide`;
    expect((await ana.post(reject, { note: '' })).text).toContain('Not decided.');
    await ana.post(reject, { verdict: 'reject', note: 'Too late' });
    expect((await callOf(second.callId)).status).toBe('rejected');
    expect((await secondBrowser.post(reject, { verdict: 'reject' })).text).toContain(
      'already decided',
    );
    expect((await ana.get('/waiting')).text).toContain('Nothing waits for a decision.');
  });

  it('approved, runs the call, and says by whom', async () => {
    const { path, decide, callId } = await requestApproval();
    await ana.get(path);
    const after = await ana.post(decide, { verdict: 'approve' });
    expect(after.path).toBe(`${path}?notice=approved#${callId}`);
    expect(after.text).toContain('Approved by ana , now');
    await waitFor('the call', async () => (await callOf(callId)).status === 'succeeded');
    const done = await secondBrowser.get(path);
    expect(done.text).toMatch(
      /Tool Cancel order succeeded Order 20481 .* Approved by ana , now \. 1 attempt, status 200, \d+ ms Result Ok Yes/,
    );
    expect(done.html).not.toContain(decide);
    expect(endpoint.at('/cancel_order')).toHaveLength(1);
    expect((await callOf(callId)).decision).toMatchObject({
      approved: true,
      by: { type: 'team_member', name: 'ana' },
    });
  });

  it('rejected, says so with the reason; nothing is called, and a reason alone decides nothing', async () => {
    const { path, decide, callId } = await requestApproval();
    await ana.get(path);
    expect((await ana.post(decide, { note: 'Why?' })).text).toContain(
      'Not decided. Press one of the two buttons',
    );
    expect((await callOf(callId)).status).toBe('pending_approval');
    const after = await ana.post(decide, { verdict: 'reject', note: HOSTILE });
    expect(after.text).toContain(`Rejected by ana , now . Reason: ${HOSTILE.replace(/\s+/g, ' ')}`);
    expect(after.html).not.toContain('<script>alert');
    expect((await callOf(callId)).decision).toMatchObject({ approved: false, note: HOSTILE });
    expect(endpoint.at('/cancel_order')).toHaveLength(0);
  });

  it('decided twice at once: the first decision counts, and the second browser says so', async () => {
    const { path, decide, callId } = await requestApproval();
    await Promise.all([ana.get(path), secondBrowser.get(path)]);
    const pages = await Promise.all([
      ana.post(decide, { verdict: 'approve' }),
      secondBrowser.post(decide, { verdict: 'reject' }),
    ]);
    const second = pages.find((page) => page.path.includes('notice=already-decided'))!;
    const first = pages.find((page) => page !== second)!;
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.path).toBe(
      `${path}?notice=${first === pages[0] ? 'approved' : 'rejected'}#${callId}`,
    );
    expect(second.path).toBe(`${path}?notice=already-decided#${callId}`);
    expect(second.text).toContain(
      'This tool call was already decided or has expired. Your decision was not used.',
    );
    expect(second.text).toMatch(/(Approved|Rejected) by ana/);
    expect((await ana.post(decide, { verdict: 'approve' })).text).toContain(
      'Your decision was not used.',
    );
  });

  it.each([
    ['somebody takes over', (path: string) => ana.post(`${path}/take-over`)],
    ['somebody replies', (path: string) => ana.post(`${path}/reply`, { text: 'I will do it.' })],
  ])('can still be decided when %s', async (_what, act) => {
    const { path, decide } = await requestApproval();
    await act(path);
    const { html } = await secondBrowser.get(`${path}/items`);
    expect(html).toContain(decide);
    expect(html).not.toContain('Cancelled');
  });

  it('decided on an earlier page of the thread, leads back to that page', async () => {
    const { id, path, callId } = await requestApproval();
    for (let n = 0; n < 60; n += 1)
      await service.api.post(`/api/conversations/${id}/messages`, { text: `${n}` });
    const earlier = await ana.get(`${path}?before=10`);
    const decide = `${path}/tool-calls/${callId}/decide?before=10`;
    expect(earlier.html).toContain(`action="${decide}"`);
    const page = await ana.post(decide, { verdict: 'approve' });
    expect(page.path).toBe(`${path}?before=10&notice=approved#${callId}`);
    expect(page.html).toContain(`id="${callId}"`);
  });

  it('is cancelled when the conversation ends, and says so', async () => {
    const { id, path, decide } = await requestApproval();
    await ana.get(path);
    // Enough messages that the end is on another page than the call.
    for (let n = 0; n < 60; n += 1)
      await service.api.post(`/api/conversations/${id}/messages`, { text: `${n}` });
    await ana.post(`${path}/close`, { verdict: 'unknown', summary: 'x' });
    const { text, html } = await secondBrowser.get(`${path}/items?before=10`);
    expect(text).toMatch(/Cancelled now , when ana closed the conversation/);
    expect(html).not.toContain(decide);
  });

  it('is cancelled when its tool is changed, and does not show the labels of the new definition', async () => {
    const { path } = await requestApproval();
    const changed = {
      ...PARAMETERS,
      properties: {
        ...PARAMETERS.properties,
        order_number: { type: 'string', title: 'Something else' },
      },
    };
    await service.api.patch(`/api/tools/${tool.id}`, { parameters: changed });
    const { text } = await ana.get(path);
    expect(text).toContain('because the tool was changed, paused or removed');
    expect(text).toContain('Order number 20481');
    expect(text).not.toContain('Something else');
    await service.api.patch(`/api/tools/${tool.id}`, { parameters: PARAMETERS });
    await makeLive(service.api, tool, { order_number: '1' });
  });

  it('expires when nobody decides, says so, and takes no decision then', async () => {
    const { id, path, decide } = await requestApproval();
    clockAheadMs += DAY_MS;
    await callIn(service.api, `conversation_id=${id}`, 'expired');
    await ana.get(path);
    const late = await ana.post(decide, { verdict: 'approve' });
    expect(late.path).toContain('notice=already-decided');
    expect(late.text).toContain('Expired now without a decision');
    expect(endpoint.at('/cancel_order')).toHaveLength(0);
  });

  it('is announced at once to every open page', async () => {
    const { id, path, decide } = await requestApproval();
    const ended = new AbortController();
    const live = await fetch(`${service.url}/live`, {
      headers: { cookie: secondBrowser.cookie },
      signal: ended.signal,
    });
    const heard: string[] = [];
    const listening = (async () => {
      for await (const chunk of live.body!.pipeThrough(new TextDecoderStream())) heard.push(chunk);
    })().catch(() => {});
    await ana.get(path);
    await ana.post(decide, { verdict: 'approve' });
    await waitFor(
      'both events',
      () =>
        heard.join('').includes(`event: thread\ndata: ${id}`) &&
        heard.join('').includes('event: conversations'),
    );
    ended.abort();
    await listening;
  });

  it.each(['approve', 'reject'])(
    'is not decided from another conversation: %s',
    async (verdict) => {
      const { callId } = await requestApproval();
      const elsewhere = await requestApproval();
      expect(
        (await ana.post(`${elsewhere.path}/tool-calls/${callId}/decide`, { verdict })).status,
      ).toBe(404);
      expect((await callOf(callId)).status).toBe('pending_approval');
    },
  );

  it('is not needed by other tools, whose calls are folded in, with arguments, result and error as text', async () => {
    const free = await endpoint.define(service.api, {
      name: 'track_parcel',
      parameters: { type: 'object', properties: { note: { type: 'string', title: HOSTILE } } },
    });
    await makeLive(service.api, free);
    endpoint.answer(free.path, {
      json: {
        [HOSTILE]: [HOSTILE, { deep: { deeper: { deepest: HOSTILE } } }, null, true],
        long: 'x'.repeat(10_000),
      },
    });
    const { conversationId } = await ask(service.url, free);
    await callIn(service.api, `conversation_id=${conversationId}`, 'succeeded');
    const { html, text } = await ana.get(`/conversations/${conversationId}`);
    expect(html).toContain('<details class="call"');
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('<img src=x');
    expect(html).toContain('&lt;script>alert(1)&lt;/script>');
    expect(text).toContain('x'.repeat(10_000));
    endpoint.answerAlways(free.path, 500);
    const failing = await ask(service.url, free);
    await callIn(service.api, `conversation_id=${failing.conversationId}`, 'failed');
    expect((await ana.get(`/conversations/${failing.conversationId}`)).text).toMatch(
      /Tool Track parcel failed now No arguments\. 3 attempts, status 500, .*500/,
    );
  });
});

describe('a conversation that the agent handed over', () => {
  it('says so where it happened, with the reason, and waits in its tab', async () => {
    const service = await startTestService({ env: { ...MEMBER_ENV, ...TOOL_TEST_ENV } });
    try {
      await service.api.patch('/api/agent', { enabled: true });
      const ana = await signedInBrowser(service.url);
      const { customer, conversationId: id } = await ask(
        service.url,
        { name: 'talk_to_a_human' },
        'please',
      );
      await agentSays(customer);
      const { text } = await ana.get(`/conversations/${id}?tab=waiting`);
      expect(text).toMatch(
        /Waiting 1 .* Waiting for a person .* Assistant agent .*Assistant handed over to a person: the customer asked for a person · \d\d:\d\d What you write Reply Note The customer is waiting for a person\./,
      );
    } finally {
      await service.stop();
    }
  });
});
