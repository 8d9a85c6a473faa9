import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Workflow } from '../../n8nServer.ts';
import { example, LAST_RETRY_MS, payloadOf, recordEvents, type Stage } from '../../stage.ts';
import { askTheTeam, waitActors } from '../waits/waitActors.ts';
import { withWorkflow } from '../withWorkflow.ts';

/** Neither side forgets the other when it is started again. */
export function provesRestarts(stage: () => Stage): void {
  const idsOf = async (workflow: Workflow) =>
    (await stage().subscriptionsOf(workflow)).map(({ id }) => id);
  const receivesBothEvents = async (workflow: Workflow, text: string) => {
    const { conversationId } = await stage().customerWrites(text);
    await stage().execution(workflow, 'conversation.opened', conversationId);
    await stage().execution(workflow, 'message.received', conversationId);
  };

  describe('after a restart', () => {
    const workflow = withWorkflow(stage, recordEvents);

    it('of the service, the same subscription keeps receiving', async () => {
      const before = await idsOf(workflow());
      await stage().service.restart();
      expect(await idsOf(workflow())).toEqual(before);
      await stage().untilReceiving(workflow());
      await receivesBothEvents(workflow(), 'After the restart of the service');
    });

    it('of the service after kill -9, a message it had acknowledged still arrives, and a repeated event keeps its id', async () => {
      const { conversationId } = await stage().customerWrites('Right before the crash');
      await stage().service.crashAndRestart();
      await stage().execution(workflow(), 'conversation.opened', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      // If the crash cut off the answer to an event, the event comes again, with the same id.
      const payloads = (await stage().executionsOf(workflow(), conversationId)).map(
        (each) => payloadOf(each)!,
      );
      const events = [...new Map(payloads.map(({ id, event }) => [id, event])).values()];
      expect(events.sort()).toEqual(['conversation.opened', 'message.received']);
      await receivesBothEvents(workflow(), 'After the crash of the service');
    });

    it('of n8n, the same subscription keeps receiving, and catches up on what failed while n8n was down', async () => {
      const before = await idsOf(workflow());
      await stage().n8n.stop();
      const { conversationId } = await stage().customerWrites('While n8n is down');
      const deliveries = async (status: string) =>
        (await stage().service.api.get(`/api/hooks/${before[0]}/deliveries?status=${status}`)).body
          .data as { attempts: unknown[] }[];
      await stage().until('both deliveries to wait for their last attempt', async () => {
        const waiting = await deliveries('pending');
        return waiting.length === 2 && waiting.every((each) => each.attempts.length === 3);
      });
      await stage().service.restartWithClockAhead(LAST_RETRY_MS);
      await stage().until(
        'both deliveries to have failed for good',
        async () => (await deliveries('failed')).length === 2,
      );

      await stage().n8n.start();
      await stage().untilReceiving(workflow());
      expect(await idsOf(workflow())).toEqual(before);
      await receivesBothEvents(workflow(), 'After the restart of n8n');
      await stage().execution(workflow(), 'conversation.opened', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      expect(await stage().executionsOf(workflow(), conversationId)).toHaveLength(2);
    });
  });

  describe('after kill -9 of n8n', () => {
    const { openWait, decide, untilResting, output, untilAttempts } = waitActors(stage);
    const api = () => stage().service.api;
    const receiver = withWorkflow(stage, recordEvents);
    const asking = withWorkflow(stage, askTheTeam);
    let tool: Workflow;
    let before: string[];
    let askedConversation: string;
    const untilTool = (status: string) => stage().untilTool('find_order', status);

    beforeAll(async () => {
      const { n8n, credential } = stage();
      tool = await n8n.importWorkflow(example('find-order-tool.json'), credential);
      await n8n.activate(tool.id);
      await untilTool('live');
      before = await idsOf(receiver());
      askedConversation = (await stage().customerWrites('A refund, please')).conversationId;
      const { id } = await openWait(askedConversation);
      await untilResting(asking());
      await n8n.kill();
      await decide(id, true);
      const [first] = await untilAttempts(id, 2);
      expect(first).toMatchObject({ status: null, problem: expect.any(String) });
      await n8n.start();
    });
    afterAll(async () => {
      await api().patch('/api/agent', { enabled: false });
      await stage().n8n.deactivate(tool.id);
      await api().delete(`/api/tools/${(await untilTool('paused')).id}`);
    });

    it('the same subscription keeps receiving', async () => {
      await stage().untilReceiving(receiver());
      expect(await idsOf(receiver())).toEqual(before);
      await receivesBothEvents(receiver(), 'After the crash of n8n');
    });

    it('a decision that was made while n8n was down reaches the execution', async () => {
      expect(await output(asking(), askedConversation)).toMatchObject({ data: { approved: true } });
    });

    it('a tool is still called', async () => {
      await api().patch('/api/agent', { enabled: true });
      const { read } = await stage().customerWrites('Where is my order A-1042?');
      const answer = await stage().until('the answer', async () => (await read())[1]?.text);
      expect(answer).toContain('Tuesday');
    });
  });
}
