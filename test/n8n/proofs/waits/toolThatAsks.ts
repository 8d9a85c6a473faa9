import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { ChangeNodes, Execution, Workflow } from '../../n8nServer.ts';
import { ownWorkflow, type Stage, type Tool } from '../../stage.ts';
import type { WaitJson } from './waitActors.ts';

const TOOL = 'ask_for_refund';
const TRIGGER = 'Conversation Service Agent Call Trigger';

/** A workflow that is a tool of the agent has to answer its call before it waits for the team. */
export function provesToolThatAsks(stage: () => Stage): void {
  const api = () => stage().service.api;
  let published: Workflow | undefined;

  const publish = async (change?: ChangeNodes) => {
    const { n8n, credential } = stage();
    published = await n8n.importWorkflow(ownWorkflow('tool-that-asks'), credential, change);
    await stage().n8n.activate(published.id);
    return published;
  };
  const untilTool = (what: string, matches: (tool: Tool) => boolean) =>
    stage().until(`the tool to be ${what}`, async () => {
      const tool = await stage().tool(TOOL);
      return tool && matches(tool) && tool;
    });
  const cards = async () =>
    ((await api().get('/api/waits?kind=decision')).body.data as WaitJson[]).filter(({ message }) =>
      message.startsWith('Refund order C-'),
    );
  const testCall = (workflow: Workflow) =>
    stage().until('the execution of the test call', async () =>
      (await stage().n8n.executions(workflow.id)).find(
        ({ output, status }: Execution) =>
          output[TRIGGER]?.[0]?.conversation_id === 'conv_test' && status === 'error',
      ),
    );

  describe('a tool of the agent that asks the team', () => {
    afterEach(async () => {
      if (published) await stage().n8n.deactivate(published.id);
      const { id } = await untilTool('not live', ({ status }) => status !== 'live');
      await api().delete(`/api/tools/${id}`);
    });
    afterAll(() => api().patch('/api/agent', { enabled: false }));

    it('goes live without a card, and opens one when the agent calls it for a customer', async () => {
      const workflow = await publish();
      await untilTool('live', ({ status }) => status === 'live');
      const { error, output } = await testCall(workflow);
      expect(error).toBe('This call only tests the tool: nobody is asked');
      expect(output['Go on']).toBeUndefined();
      expect(await cards()).toEqual([]);

      await api().patch('/api/agent', { enabled: true });
      const { read } = await stage().customerWrites('I ask for a refund of order C-7');
      const card = await stage().until('the card', async () => (await cards())[0]);
      expect(card).toMatchObject({ message: 'Refund order C-7?', status: 'open' });
      await stage().until('the answer of the agent', async () =>
        (await read()).some(({ text }) => (text as string).includes('Our team looks at it.')),
      );
      await api().post(`/api/waits/${card.id}/decide`, { approved: true });
      await stage().until('the execution to go on', async () =>
        (await stage().n8n.executions(workflow.id)).some((execution) => execution.output['Go on']),
      );
    });

    it('does not go live when its last node answers, and says why', async () => {
      const workflow = await publish((node) => {
        node(TRIGGER).parameters.responseMode = 'lastNode';
        Object.assign(node('Respond to the agent'), { disabled: true });
      });
      await untilTool('tested', ({ last_test: test }) => test?.succeeded === false);
      expect((await testCall(workflow)).error).toContain('answers by the last node');
    });
  });
}
