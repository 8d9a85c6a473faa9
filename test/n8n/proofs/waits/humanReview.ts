import { describe, expect, it } from '@jest/globals';
import { text, toolCalls } from '../../../helpers/modelServer.ts';
import { lastText, withChatModel } from '../../chatModel.ts';
import type { Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';
import { askTheCustomer, askTheTeam, reviewATool, waitActors } from './waitActors.ts';

/** n8n's AI Agent runs a tool when a colleague approves; its model reads a rejection's note. */
export function provesHumanReview(stage: () => Stage): void {
  const { openWait, decide, untilResting, output } = waitActors(stage);

  describe('a human review in front of the calculator of an AI Agent', () => {
    const model = withChatModel();
    const review = withWorkflow(stage, reviewATool, (node) =>
      model().connect(stage().n8n, node('OpenAI Chat Model')),
    );
    /** Calls the calculator, then replies with its results. */
    const scriptModel = (...inputs: string[]) =>
      model().answerBy((request) => {
        const results = request.body.messages.filter(({ role }) => role === 'tool');
        if (results.length > 0) return text(results.map(({ content }) => content).join('\n'));
        return toolCalls(
          inputs.map((input) => ({
            name: 'Calculator',
            arguments: { toolParameters: { input }, hitlParameters: {} },
          })),
        );
      });

    it('runs it once somebody approves', async () => {
      scriptModel('6*7');
      const { conversationId } = await stage().customerWrites('Approve this');
      const wait = await openWait(conversationId);
      expect(wait).toMatchObject({
        message: 'The agent wants to run this tool: Calculator',
        details: { input: '6*7' },
      });
      await untilResting(review());
      await decide(wait.id, true);
      const { output: said } = await output(review(), conversationId);
      expect(said).toContain('42');
    });

    it('does not run it after a rejection, whose note reaches the model', async () => {
      scriptModel('6*7');
      const { conversationId } = await stage().customerWrites('Reject this');
      await decide((await openWait(conversationId)).id, false, 'Fine, but ask me first');
      const { output: said } = await output(review(), conversationId);
      expect(said).toContain('Rejected: Fine, but ask me first');
      expect(said).not.toContain('42');
    });

    it('runs only the approved call of several at once, since n8n asks for the first alone', async () => {
      scriptModel('6*7', '6*8');
      const { conversationId } = await stage().customerWrites('Two at once');
      const { id, details } = await openWait(conversationId);
      expect(details).toEqual({ input: '6*7' });
      await untilResting(review());
      await decide(id, true);
      const { output: said } = await output(review(), conversationId);
      expect(said).toContain('42');
      expect(said).not.toContain('48');
    });

    describe('beside a question to the customer and one to the team', () => {
      const reply = withWorkflow(stage, askTheCustomer);
      const decision = withWorkflow(stage, askTheTeam);

      it('goes on, as they do, after n8n and the service have been restarted', async () => {
        scriptModel('6*7');
        const customer = await stage().customerWrites('All three');
        const { conversationId } = customer;
        for (const workflow of [reply(), decision(), review()]) await untilResting(workflow);
        await stage().n8n.stop();
        await stage().service.restart();
        // By default, n8n 2.41 treats an execution that rests in a human review as crashed.
        await stage().n8n.start({ N8N_EVENTBUS_RECOVERY_MODE: 'simple' });
        const path = `/api/waits?status=open&conversation_id=${conversationId}`;
        const open = (await stage().service.api.get(path)).body.data as {
          id: string;
          kind: string;
        }[];
        expect(open.map(({ kind }) => kind).sort()).toEqual(['decision', 'decision', 'reply']);
        for (const { id, kind } of open) if (kind === 'decision') await decide(id, true);
        await customer.write('Still here');
        expect(await output(reply(), conversationId)).toMatchObject({ text: 'Still here' });
        expect(await output(decision(), conversationId)).toMatchObject({
          data: { approved: true },
        });
        expect((await output(review(), conversationId)).output).toContain('42');
        expect(lastText(model().requests.at(-1)!)).toContain('42');
      });
    });
  });
}
