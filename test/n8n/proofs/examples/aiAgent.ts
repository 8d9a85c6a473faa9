import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signedInBrowser } from '../../../helpers/browserless.ts';
import {
  startModelServer,
  text,
  toolCalls,
  type ModelRequest,
  type ModelServer,
} from '../../../helpers/modelServer.ts';
import type { Stage } from '../../stage.ts';
import type { ExampleRunner } from './exampleRunner.ts';

/** n8n's AI Agent answers once, and never beside a person. */
export function provesAiAgent(stage: () => Stage, { runChanged }: ExampleRunner): void {
  const api = () => stage().service.api;

  describe('ai-agent', () => {
    let model: ModelServer;
    beforeAll(async () => {
      model = await startModelServer({ isOpenAi: true });
    });
    afterAll(() => model?.close());

    const runAgent = async () => {
      const openAi = await stage().n8n.createCredential(
        'openAiApi',
        { apiKey: model.apiKey, url: model.url },
        'A model on this machine',
      );
      return await runChanged('ai-agent', (node) => {
        const chatModel = node('OpenAI Chat Model');
        chatModel.credentials = { openAiApi: { id: openAi.id, name: openAi.name } };
        (chatModel.parameters.model as { value: string }).value = model.model;
      });
    };
    const lastOf = ({ body: { messages } }: ModelRequest) => messages.at(-1)!.content!;

    it('answers, remembers the conversation, and asks for a person', async () => {
      model.answerBy(({ body: { messages } }) => {
        const last = messages.at(-1)!;
        if (last.role === 'tool') return text('A colleague will answer here.');
        if (last.content!.includes('person')) return toolCalls({ name: 'Get_a_person' });
        const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
        return text(`You wrote: ${said.join(' / ')}`);
      });
      await runAgent();
      const customer = await stage().customerWrites('Do you repair tents?', { name: 'Grace' });
      const { conversationId } = customer;
      const answers = (count: number) =>
        stage().until(`${count} answers`, async () => {
          const read = (await customer.read()).filter(({ from }) => from !== 'customer');
          return read.length >= count && read.map((each) => each.text);
        });
      expect(await answers(1)).toEqual(['You wrote: Do you repair tents?']);
      await customer.write('And boots?');
      expect((await answers(2))[1]).toBe('You wrote: Do you repair tents? / And boots?');
      await customer.write('I would like a person, please');
      expect((await answers(3))[2]).toBe('A colleague will answer here.');
      expect((await api().get(`/api/conversations/${conversationId}`)).body.status).toBe(
        'human_active',
      );
    });

    it('keeps its answer to itself when a person takes over while the model thinks', async () => {
      const workflow = await runAgent();
      const ana = await signedInBrowser(stage().service.url);
      const wrote = stage().customerWrites('First of all, hello');
      model.answerBy((request) => (res) => {
        void wrote
          .then(({ conversationId }) => ana.post(`/conversations/${conversationId}/take-over`))
          .then(() => text('Too late')(res, request));
      });
      const customer = await wrote;
      const { conversationId } = customer;
      const execution = await stage().execution(workflow, 'message.received', conversationId);
      expect(execution.output['AI Agent']).toMatchObject([{ output: 'Too late' }]);
      expect(execution).toMatchObject({ status: 'success' });
      expect(execution.output['Send the answer']).toBeUndefined();
      expect(await customer.read()).toHaveLength(1);
    });

    it('answers two quick messages once, both together', async () => {
      const workflow = await runAgent();
      let answerFirst = () => {};
      const asked = new Promise<void>((resolve) => {
        model.answerBy((request) => (res) => {
          answerFirst = () => text('About the one')(res, request);
          resolve();
        });
      });
      const customer = await stage().customerWrites('Where is my order?');
      await asked;
      let seen = '';
      model.answerBy((request) => {
        seen = lastOf(request);
        return text('About both');
      });
      await customer.write('It is A-1042');
      const { conversationId } = customer;
      await stage().execution(workflow, 'message.received', conversationId);
      answerFirst();
      await stage().until('both executions', async () => {
        return (await stage().executionsOf(workflow, conversationId)).length === 2;
      });
      expect(seen).toBe('Where is my order?\nIt is A-1042');
      expect((await customer.read()).map((each) => each.text)).toEqual([
        'Where is my order?',
        'It is A-1042',
        'About both',
      ]);
    });
  });
}
