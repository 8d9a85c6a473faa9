import { describe, expect, it } from '@jest/globals';
import { httpError, text, type ModelRequest } from '../../../helpers/modelServer.ts';
import { agentRunner } from '../agent/agentRunner.ts';
import { lastText, withChatModel } from '../../chatModel.ts';
import { example, type Stage } from '../../stage.ts';
import { setField } from './exampleRunner.ts';

/** A workflow that decides first what a message is about. */
export function provesTriage(stage: () => Stage): void {
  describe('triage', () => {
    const model = withChatModel();
    const { publish, statusOf, untilTurn } = agentRunner(stage);
    const publishTriage = (opens: string) =>
      publish(example('triage.json'), async (node) => {
        await model().connect(stage().n8n, node('OpenAI Chat Model'));
        setField(node('Opening hours'), 'days', [1, 2, 3, 4, 5, 6, 7]);
        setField(node('Opening hours'), 'opens', opens);
        setField(node('Opening hours'), 'closes', '24:00');
      });
    const isTriage = ({ body }: ModelRequest) =>
      body.messages[0]!.content!.includes('classify the text');
    const category = (chosen: string) =>
      text(
        JSON.stringify(
          Object.fromEntries(
            ['question', 'thanks', 'person', 'fallback'].map((name) => [name, name === chosen]),
          ),
        ),
      );

    it('answers questions, says nothing to thanks, and gives complaints to a person', async () => {
      model().answerBy((request) => {
        if (!isTriage(request)) return text('Two to three days.');
        if (lastText(request).includes('Thank')) return category('thanks');
        return category(lastText(request).includes('broken') ? 'person' : 'question');
      });
      await publishTriage('00:00');
      const customer = await stage().customerWrites('How long does delivery take?');
      expect(await customer.answers(1)).toEqual(['Two to three days.']);
      await customer.write('Thank you!');
      expect(await untilTurn(customer, 'answered', 2)).toMatchObject({ outcome: 'nothing' });
      await customer.write('It arrived broken');
      await untilTurn(customer, 'answered', 3);
      expect(await customer.answers(2)).toEqual([
        'Two to three days.',
        'A colleague is with you in a moment.',
      ]);
      expect(await statusOf(customer)).toBe('awaiting_human');
    });

    it('promises an answer out of hours, also when the model fails', async () => {
      model().answerBy((request) => (isTriage(request) ? category('question') : httpError(400)));
      await publishTriage('24:00');
      const customer = await stage().customerWrites('How long does delivery take?');
      await untilTurn(customer, 'answered');
      expect(await customer.answers(1)).toEqual([expect.stringMatching(/^We are away right now/)]);
      expect(await statusOf(customer)).toBe('awaiting_human');
    });
  });
}
