import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import type { Workflow } from '../../n8nServer.ts';
import { example, type Stage } from '../../stage.ts';
import type { SecondN8n } from './withSecondN8n.ts';

const findOrder = example('find-order-tool.json');

/** A live tool belongs to the n8n that published it, until it is released or taken over. */
export function provesToolOwnership(stage: () => Stage, second: () => SecondN8n): void {
  const api = () => stage().service.api;
  let original: Workflow;
  let copy: Workflow;

  const tool = async () => (await stage().tool('find_order'))!;
  const untilLiveAt = (where: { url: string }) =>
    stage().until(`find_order to be live at ${where.url}`, async () => {
      const { status, endpoint } = await tool();
      return status === 'live' && endpoint.startsWith(where.url);
    });
  const answerAbout = async (order: string) => {
    const customer = await stage().customerWrites(`Where is my order ${order}?`);
    return stage().until('the answer of the agent', async () => (await customer.read())[1]?.text);
  };
  /** Publishes the same workflow in the second n8n. */
  const publishCopy = async (options: Record<string, unknown> = {}) => {
    copy = await second().n8n.importWorkflow(findOrder, second().credential, { options });
    await second().n8n.activate(copy.id);
  };

  describe('the workflow of a tool in a second n8n', () => {
    beforeAll(() => api().patch('/api/agent', { enabled: true }));
    beforeEach(async () => {
      original = await stage().n8n.importWorkflow(findOrder, stage().credential);
      await stage().n8n.activate(original.id);
      await untilLiveAt(stage().n8n);
    });
    afterEach(async () => {
      await stage().n8n.deactivate(original.id);
      await second().n8n.deactivate(copy.id);
      await api().delete(`/api/tools/${(await tool()).id}`);
    });
    afterAll(() => api().patch('/api/agent', { enabled: false }));

    it('is refused with the name of the holder, and unpublishing it there changes nothing', async () => {
      await publishCopy();
      const error = await second().refusal(copy.id);
      expect(error).toContain(
        `find_order is published by the workflow "${original.name}" of the n8n at localhost:${stage().n8n.port}`,
      );
      expect(error).toContain('turn on the option "Take Over From Another n8n"');
      await second().n8n.deactivate(copy.id);
      await untilLiveAt(stage().n8n);
      expect(await answerAbout('A-1042')).toContain('Tuesday');
    });

    it('takes the tool over with the option, and unpublishing the original changes nothing', async () => {
      await publishCopy({ takeOver: true });
      await untilLiveAt(second().n8n);
      await stage().n8n.deactivate(original.id);
      await untilLiveAt(second().n8n);
      expect(await answerAbout('A-1043')).toContain('A-1043');
    });

    it('takes the tool once a member has released it', async () => {
      const member = await signedInBrowser(stage().service.url);
      await member.post(`/tools/${(await tool()).id}/release`);
      await untilLiveAt(stage().n8n);
      await publishCopy();
      await untilLiveAt(second().n8n);
      await stage().n8n.deactivate(original.id);
      await untilLiveAt(second().n8n);
    });
  });
}
