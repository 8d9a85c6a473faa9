import { describe, expect, it } from '@jest/globals';
import type { Workflow } from '../n8nServer.ts';
import { payloadOf, recordEvents, TRIGGER, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const KEPT = ['message.received', 'message.sent'];

/** An edited trigger, once published, has the subscriptions it asks for and no other. */
export function provesRepublishing(stage: () => Stage): void {
  describe('publishing an edited workflow', () => {
    const workflow = withWorkflow(stage, recordEvents);
    const publish = ({ id, name, nodes, connections, settings }: Workflow) =>
      stage().n8n.api<Workflow>('PUT', `/workflows/${id}`, { name, nodes, connections, settings });

    it('replaces the subscriptions by those of the chosen events, which work with their new secrets', async () => {
      const before = await stage().subscriptionsOf(workflow());
      const nodes = workflow().nodes.map((node) =>
        node.name === TRIGGER ? { ...node, parameters: { ...node.parameters, events: KEPT } } : node,
      );
      await publish({ ...workflow(), nodes });

      await stage().receiving(workflow(), KEPT, before);

      const { conversationId, write } = await stage().customerWrites('After the edit');
      await write('And once more');
      await stage().service.api.post(`/api/conversations/${conversationId}/messages`, { text: 'Hello' });
      await stage().execution(workflow(), 'message.sent', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      const events = (await stage().executionsOf(workflow(), conversationId)).map((each) => payloadOf(each)?.event);
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
}
