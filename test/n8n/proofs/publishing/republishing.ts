import { describe, expect, it } from '@jest/globals';
import type { Workflow } from '../../n8nServer.ts';
import { payloadOf, recordEvents, TRIGGER, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

const KEPT = ['message.received', 'message.sent'];

/**
 * An edited trigger, once published, has the subscription it asks for and no other; what happens
 * in between is not lost.
 */
export function provesRepublishing(stage: () => Stage): void {
  const publish = (
    { id, name, nodes, connections, settings }: Workflow,
    events?: readonly string[],
  ) => {
    const edited =
      events === undefined
        ? nodes
        : nodes.map((node) =>
            node.name === TRIGGER ? { ...node, parameters: { ...node.parameters, events } } : node,
          );
    return stage().n8n.api<Workflow>('PUT', `/workflows/${id}`, {
      name,
      nodes: edited,
      connections,
      settings,
    });
  };

  describe('publishing an edited workflow', () => {
    const workflow = withWorkflow(stage, recordEvents);

    it('changes the subscription to the chosen events, with a new secret under the same id', async () => {
      const before = await stage().subscriptionsOf(workflow());
      await publish(workflow(), KEPT);

      const after = await stage().receiving(workflow(), KEPT, before);
      expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));

      const { conversationId, write } = await stage().customerWrites('After the edit');
      await write('And once more');
      await stage().service.api.post(`/api/conversations/${conversationId}/messages`, {
        text: 'Hello',
      });
      await stage().execution(workflow(), 'message.sent', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      const events = (await stage().executionsOf(workflow(), conversationId)).map(
        (each) => payloadOf(each)?.event,
      );
      expect(new Set(events)).toEqual(new Set(KEPT));
    });

    it('takes all six again when it is deactivated and activated with the trigger as it was', async () => {
      await stage().retire(workflow());
      await publish(workflow());
      await stage().n8n.activate(workflow().id);
      await stage().receiving(workflow());
      const { conversationId } = await stage().customerWrites('All six again');
      await stage().execution(workflow(), 'conversation.opened', conversationId);
    });
  });

  describe('publishing again and again while events come', () => {
    const ONE = ['message.received'];
    const workflow = withWorkflow(stage, recordEvents, { events: ONE });

    it('starts one execution for each event, whichever moment it came at', async () => {
      const { write, conversationId } = await stage().customerWrites('message 0');
      let isWriting = true;
      const written = new Set(['message 0']);
      const writing = (async () => {
        for (let n = 1; n <= MESSAGES; n++) {
          await write(`message ${n}`);
          written.add(`message ${n}`);
          // the rate of events, not a wait for anything
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })().finally(() => (isWriting = false));

      let times = 0;
      while (isWriting || times < 4) {
        const before = await stage().subscriptionsOf(workflow());
        if (times % 2 === 0) {
          const events = times % 4 === 0 ? KEPT : ONE; // a changed trigger
          await publish(workflow(), events);
          await stage().receiving(workflow(), events, before);
        } else {
          const events = before.flatMap((each) => each.events);
          await stage().n8n.deactivate(workflow().id);
          await stage().n8n.activate(workflow().id);
          await stage().receiving(workflow(), events, before);
        }
        times++;
      }
      await writing;

      const textsOf = async () => {
        const payloads = (await stage().executionsOf(workflow(), conversationId)).map(
          (each) => payloadOf(each)!,
        );
        return payloads.map(({ message }) => (message as { text: string }).text);
      };
      await stage().until(
        'an execution for each message',
        async () => new Set(await textsOf()).size === written.size,
        { timeoutMs: 120_000, everyMs: 1000 },
      );
      await stage().until('nothing to be on its way any more', async () => {
        const ways = await Promise.all(
          (await stage().subscriptionsOf(workflow())).map(({ id }) =>
            stage().service.api.get(`/api/hooks/${id}/deliveries?status=pending`),
          ),
        );
        return ways.every(({ body }) => body.data.length === 0);
      });
      expect((await textsOf()).sort()).toEqual([...written].sort());
      expect(times).toBeGreaterThanOrEqual(4);
    });
  });
}

/** Written over fifteen seconds and more. */
const MESSAGES = 300;
