import { describe, expect, it } from '@jest/globals';
import { payloadOf, recordEvents, type Payload, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const EVENT = 'message.received';

/** The service may deliver an event more than once. The event still starts one execution. */
export function provesDuplicates(stage: () => Stage): void {
  describe('a duplicate delivery', () => {
    const workflow = withWorkflow(stage, recordEvents);

    /** Has a new customer's message delivered, and offers to deliver it again with a signature of its own. */
    const deliverOnce = async (text: string) => {
      const { conversationId } = await stage().customerWrites(text);
      const execution = await stage().execution(workflow(), EVENT, conversationId);
      const { delivery_id: _, ...payload } = payloadOf(execution) as Payload;
      const secret = await stage().secretOf(workflow());
      return {
        again: () => stage().deliver(workflow(), JSON.stringify(payload), { secret, event: EVENT }),
        executions: async () =>
          (await stage().executionsOf(workflow(), conversationId)).filter(
            (each) => payloadOf(each)?.event === EVENT,
          ),
      };
    };

    const signedEvent = async (id: string, conversationId: string) => {
      const secret = await stage().secretOf(workflow());
      const body = JSON.stringify({ id, event: EVENT, conversation: { id: conversationId } });
      return () => stage().deliver(workflow(), body, { secret, event: EVENT });
    };
    let laterEvents = 0;
    /** Runs a later event. By then, an execution of an earlier event would be visible. */
    const runLaterEvent = async () => {
      laterEvents += 1;
      const conversationId = `conv_later_${laterEvents}`;
      const send = await signedEvent(`evt_later_${laterEvents}`, conversationId);
      await send();
      await stage().execution(workflow(), EVENT, conversationId);
    };

    it('is answered 200 and starts nothing', async () => {
      const { again, executions } = await deliverOnce('Say it once');
      const answer = await again();
      expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({
        status: 200,
        body: { message: 'This delivery was already accepted.' },
      });
      await runLaterEvent();
      expect(await executions()).toHaveLength(1);
    });

    it('starts one execution when ten arrive at the same time', async () => {
      const conversationId = 'conv_at_the_same_time';
      const send = await signedEvent('evt_at_the_same_time', conversationId);
      const answers = await Promise.all(Array.from({ length: 10 }, send));
      const statuses = answers.map(({ status }) => status);
      expect(statuses).toContain(200);
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
      await stage().execution(workflow(), EVENT, conversationId);
      await runLaterEvent();
      expect(await stage().executionsOf(workflow(), conversationId)).toHaveLength(1);
    });
  });
}
