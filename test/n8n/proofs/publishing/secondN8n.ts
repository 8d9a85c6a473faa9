import { describe, expect, it } from '@jest/globals';
import type { Workflow, WorkflowNode } from '../../n8nServer.ts';
import { recordEvents, type Stage } from '../../stage.ts';
import type { SecondN8n } from './withSecondN8n.ts';
import { withWorkflow } from '../withWorkflow.ts';

const EVENTS = ['message.received', 'conversation.closed'];

/** A workflow that is exported to a second n8n does not answer customers twice. */
export function provesSecondN8n(stage: () => Stage, second: () => SecondN8n): void {
  describe('a workflow that is exported to a second n8n', () => {
    const workflow = withWorkflow(stage, recordEvents, { events: EVENTS });
    let copy: Workflow;

    const addresses = async () => {
      const { body } = await stage().service.api.get('/api/hooks?limit=200');
      return (body.data as { target_url: string }[]).map(({ target_url }) => target_url);
    };
    const addressesInSecond = async () =>
      (await addresses()).filter((url) => url.startsWith(second().n8n.url));
    const withSecondCredential = (node: WorkflowNode) => {
      const { type, id, name } = second().credential;
      return node.credentials ? { ...node, credentials: { [type]: { id, name } } } : node;
    };

    it('is refused there, with the name of the workflow that has the subscription, and what to do', async () => {
      const { name, nodes, connections, settings } = await stage().n8n.api<Workflow>(
        'GET',
        `/workflows/${workflow().id}`,
      );
      copy = await second().n8n.api<Workflow>('POST', '/workflows', {
        name,
        nodes: nodes.map(withSecondCredential),
        connections,
        settings,
      });
      await second().n8n.activate(copy.id);
      const message = await second().refusal(copy.id);
      const host = new URL(stage().n8n.url).host;
      expect(message).toContain(`the workflow "${workflow().name}" of the n8n at ${host}`);
      expect(message).toMatch(/"Take Over From Another n8n".*publish again\.$/);
      expect(await addressesInSecond()).toEqual([]);
      await second().n8n.deactivate(copy.id);
      expect(await stage().subscriptionsOf(workflow())).toMatchObject([{ events: EVENTS }]);
    });

    it('takes the events over with the option, and keeps them when the original is unpublished', async () => {
      await second().n8n.edit(copy.id, { options: { takeOver: true } });
      await second().n8n.activate(copy.id);
      await stage().until(
        'the events to go to the second n8n',
        async () => (await addressesInSecond()).length === 1,
      );
      expect(await stage().subscriptionsOf(workflow())).toEqual([]);
      await stage().retire(workflow());
      expect(await addressesInSecond()).toHaveLength(1);
      await second().n8n.deactivate(copy.id);
      await stage().until(
        'the subscription to be removed',
        async () => (await addressesInSecond()).length === 0,
      );
    });
  });
}
