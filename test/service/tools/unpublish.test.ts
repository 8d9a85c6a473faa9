import { describe, expect, it } from '@jest/globals';
import { ask, callIn, wakeToolCalls } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  definition,
  hashOf,
  moveClock,
  OTHER_OWNERS,
  publishLive,
  put,
  theTool,
  unpublish,
  until,
  usePublishing,
} from './publishing.ts';
import { endpoint, holdNext, service } from './toolService.ts';

usePublishing();

describe('Unpublishing a tool', () => {
  it('pauses it, and publishing brings it back at once, without a test call', async () => {
    const { id, secret } = await publishLive();
    expect((await unpublish()).body).toEqual({ name: 'find_order', paused: true });
    expect(await theTool()).toMatchObject({ id, status: 'paused' });
    const again = await put({ secret_hash: hashOf(secret) });
    expect([again.status, again.body.status]).toEqual([200, 'live']);
    expect(endpoint.at('/orders')).toHaveLength(1);
  });

  describe('for a moment, as n8n does to publish a new version,', () => {
    const asking = () => definition({ ask_before_running: true, read_only: true });
    const move = async (ms: number) => {
      moveClock(ms);
      await wakeToolCalls(service.api, endpoint);
    };
    /** A call of the published tool that waits for approval. */
    const anotherCall = async () => {
      const { conversationId } = await ask(service.url, { name: 'find_order' });
      const query = `conversation_id=${conversationId}`;
      const callIs = (status: string) => callIn(service.api, query, status);
      const { tool_call_id: id } = await callIs('pending_approval');
      return { callIs, approve: () => service.api.post(`/api/tool-calls/${id}/approve`, {}) };
    };
    /** Publishes the tool, and has it called. */
    const waitingCall = async () => {
      const { secret } = await publishLive({ definition: asking() });
      await service.api.patch('/api/agent', { enabled: true });
      return {
        ...(await anotherCall()),
        publishAgain: () => put({ definition: asking(), secret_hash: hashOf(secret) }),
      };
    };

    it('keeps calls that wait for approval, and they can be approved afterwards', async () => {
      const { callIs, approve, publishAgain } = await waitingCall();
      await unpublish();
      await callIs('pending_approval');
      await publishAgain();
      await move(60_000);
      await callIs('pending_approval');
      await approve();
      await callIs('succeeded');
    });

    it('lets a call that is approved in between wait', async () => {
      const { callIs, approve, publishAgain } = await waitingCall();
      await unpublish();
      await approve();
      await move(2000);
      expect(await callIs('running')).toMatchObject({ attempts: 0 });
      await publishAgain();
      await move(2000);
      await callIs('succeeded');
    });

    it('lets a call between two attempts wait', async () => {
      const { callIs, approve, publishAgain } = await waitingCall();
      endpoint.answer('/orders', 500);
      await approve();
      await waitFor('an attempt', async () => (await callIs('running')).http_status === 500);
      await unpublish();
      await move(2000);
      expect(await callIs('running')).toMatchObject({ attempts: 1 });
      await publishAgain();
      await move(2000);
      expect(await callIs('succeeded')).toMatchObject({ attempts: 2 });
    });

    it('cancels all of them when it was not published again after a minute', async () => {
      const { callIs } = await waitingCall();
      const approved = await anotherCall();
      await unpublish();
      await approved.approve();
      await move(59_000);
      await callIs('pending_approval');
      await approved.callIs('running');
      await move(1000);
      await callIs('cancelled');
      await move(2000);
      expect(await approved.callIs('cancelled')).toMatchObject({ attempts: 0 });
    });

    it('gives each unpublishing its own minute', async () => {
      const { callIs, publishAgain } = await waitingCall();
      await unpublish();
      await publishAgain();
      await move(30_000);
      await unpublish();
      await move(30_000);
      await callIs('pending_approval');
      await move(30_000);
      await callIs('cancelled');
    });

    it('cancels all of them at once when somebody pauses the tool', async () => {
      const { callIs } = await waitingCall();
      const approved = await anotherCall();
      await unpublish();
      await approved.approve();
      const { id } = await theTool();
      await service.api.post(`/api/tools/${id}/pause`);
      await callIs('cancelled');
      await move(2000);
      await approved.callIs('cancelled');
    });
  });

  it('stops a tool that is about to go live', async () => {
    const letGo = holdNext('/orders');
    await put();
    await unpublish();
    await letGo();
    expect(await until('the test', ({ last_test: test }) => test !== null)).toMatchObject({
      status: 'draft',
      going_live: false,
    });
  });

  it('succeeds when the tool is gone', async () => {
    const { status, body } = await unpublish();
    expect([status, body]).toEqual([200, { name: 'find_order', paused: false }]);
  });

  it('by a late request for an older revision does nothing', async () => {
    const { secret, revision } = await publishLive();
    await put({ secret_hash: hashOf(secret) });
    expect((await unpublish({ revision: String(revision) })).body.paused).toBe(false);
    expect(await theTool()).toMatchObject({ status: 'live' });
    expect((await unpublish({ revision: String(revision + 1) })).body.paused).toBe(true);
  });

  it.each<[string, Record<string, string>]>([
    ...OTHER_OWNERS,
    [
      'an address that the tool does not call',
      { endpoint: 'https://n8n.example.com/webhook-test/1' },
    ],
  ])('does nothing for %s', async (_who, difference) => {
    await publishLive();
    expect((await unpublish(difference)).body.paused).toBe(false);
    expect(await theTool()).toMatchObject({ status: 'live' });
  });

  it('touches no tool that nobody published', async () => {
    await service.api.post('/api/tools', { name: 'find_order', kind: 'Webhook', ...definition() });
    expect((await unpublish()).body.paused).toBe(false);
  });
});
