import { describe, expect, it } from '@jest/globals';
import { httpError, text, type ModelRequest } from '../../../helpers/modelServer.ts';
import { agentRunner } from '../agent/agentRunner.ts';
import { lastText, withChatModel } from '../../chatModel.ts';
import { example, type Stage } from '../../stage.ts';
import { setField } from './exampleRunner.ts';

/** The example that first classifies what a message is about. */
export function provesTriage(stage: () => Stage): void {
  describe('triage', () => {
    const model = withChatModel();
    const { publish, statusOf, untilTurn } = agentRunner(stage);
    /** @param opens '00:00' for always, '24:00' for never */
    const publishTriage = (opens: string) =>
      publish(example('triage.json'), async (node) => {
        await model().connect(stage().n8n, node('OpenAI Chat Model'));
        setField(node('Opening hours'), 'days', [1, 2, 3, 4, 5, 6, 7]);
        setField(node('Opening hours'), 'opens', opens);
        setField(node('Opening hours'), 'closes', '24:00');
      });
    const asksForCategory = ({ body }: ModelRequest) =>
      body.messages[0]!.content!.includes('classify the text');
    const category = (chosen: string) => {
      const names = ['question', 'thanks', 'person', 'fallback'];
      return text(JSON.stringify(Object.fromEntries(names.map((name) => [name, name === chosen]))));
    };

    it('answers questions, says nothing to thanks, and gives complaints to a person', async () => {
      model().answerBy((request) => {
        if (!asksForCategory(request)) return text('Two to three days.');
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

    it('promises an answer outside opening hours, even when the model fails', async () => {
      model().answerBy((request) =>
        asksForCategory(request) ? category('question') : httpError(400),
      );
      await publishTriage('24:00');
      const customer = await stage().customerWrites('How long does delivery take?');
      await untilTurn(customer, 'answered');
      expect(await customer.answers(1)).toEqual([expect.stringMatching(/^We are away right now/)]);
      expect(await statusOf(customer)).toBe('awaiting_human');
    });
  });
}
