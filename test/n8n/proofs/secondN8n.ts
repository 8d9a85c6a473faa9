import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Credential, N8nServer, Workflow, WorkflowNode } from '../n8nServer.ts';
import { recordEvents, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const EVENTS = ['message.received', 'conversation.closed'];

/** A workflow that was exported does not answer customers twice. */
export function provesSecondN8n(stage: () => Stage): void {
  describe('a workflow that is exported to a second n8n', () => {
    const workflow = withWorkflow(stage, recordEvents, { events: EVENTS });
    let second: N8nServer;
    let credential: Credential;
    let copy: Workflow;

    beforeAll(async () => {
      second = await stage().startAnotherN8n();
      const { url: baseUrl, apiKey } = stage().service;
      credential = await second.createCredential('conversationServiceApi', { baseUrl, apiKey });
    }, 300_000);
    afterAll(() => second?.close());

    const addresses = async () => {
      const { body } = await stage().service.api.get('/api/hooks?limit=200');
      return (body.data as { target_url: string }[]).map(({ target_url }) => target_url);
    };
    const ofSecond = async () => (await addresses()).filter((url) => url.startsWith(second.url));
    const withOurCredential = (node: WorkflowNode) =>
      node.credentials
        ? { ...node, credentials: { [credential.type]: { id: credential.id, name: 'ours' } } }
        : node;

    it('is refused there with the name of the workflow that holds it, and what to do', async () => {
      const { name, nodes, connections, settings } = await stage().n8n.api<Workflow>(
        'GET',
        `/workflows/${workflow().id}`,
      );
      copy = await second.api<Workflow>('POST', '/workflows', {
        name,
        nodes: nodes.map(withOurCredential),
        connections,
        settings,
      });
      await second.activate(copy.id);
      const message = await stage().until('the error of the activation', () =>
        second.publishingError(copy.id),
      );
      const host = new URL(stage().n8n.url).host;
      expect(message).toContain(`the workflow "${workflow().name}" of the n8n at ${host}`);
      expect(message).toMatch(/"Take Over From Another n8n".*publish again\.$/);
      expect(await ofSecond()).toEqual([]);
      await second.deactivate(copy.id);
      expect(await stage().subscriptionsOf(workflow())).toMatchObject([{ events: EVENTS }]);
    });

    it('takes the events over when that is wanted, and keeps them when the first is unpublished', async () => {
      const { name, nodes, connections, settings } = copy;
      const options = { takeOver: true };
      await second.api('PUT', `/workflows/${copy.id}`, {
        name,
        nodes: nodes.map((node) =>
          node.credentials ? { ...node, parameters: { ...node.parameters, options } } : node,
        ),
        connections,
        settings,
      });
      await second.activate(copy.id);
      await stage().until('the events to go there', async () => (await ofSecond()).length === 1);
      expect(await stage().subscriptionsOf(workflow())).toEqual([]);
      await stage().retire(workflow());
      expect(await ofSecond()).toHaveLength(1);
      await second.deactivate(copy.id);
      await stage().until('it to be removed', async () => (await ofSecond()).length === 0);
    });
  });
}
