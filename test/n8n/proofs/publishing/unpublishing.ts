import { describe, expect, it } from '@jest/globals';
import { ownWorkflow, payloadOf, recordEvents, type Stage } from '../../stage.ts';
import { agentRunner } from '../agent/agentRunner.ts';
import { withWorkflow } from '../withWorkflow.ts';

const EVENT = 'message.received';

const OVER_A_MINUTE_MS = 61_000;

/**
 * Unpublishing is the stop button: after a minute, nothing waits for the workflow any more. Each of
 * these proofs moves the service's clock ahead, so they come last.
 */
export function provesUnpublishing(stage: () => Stage): void {
  describe('a workflow that was the agent', () => {
    const { publish, unpublish, untilTurn, executionsOf, statusOf } = agentRunner(stage);

    it('leaves what customers write waiting for a minute, then gives it to a person', async () => {
      const workflow = await publish(ownWorkflow('answering-agent'));
      await unpublish(workflow);
      const customer = await stage().customerWrites('Is anybody there?');
      await untilTurn(customer, 'queued');
      expect(await statusOf(customer)).toBe('ai_active');
      await stage().service.restartWithClockAhead(OVER_A_MINUTE_MS);
      await stage().until(
        'the conversation to wait for a person',
        async () => (await statusOf(customer)) === 'awaiting_human',
        // The clock of a database is not moved ahead.
        { timeoutMs: 100_000 },
      );
      expect(await customer.answers(1)).toHaveLength(1);
      expect(await executionsOf(workflow, customer)).toEqual([]);
    });
  });

  describe('a workflow that is published again after more than a minute', () => {
    const workflow = withWorkflow(stage, recordEvents, { events: [EVENT] });

    it('gets nothing from the time in between', async () => {
      const before = await stage().subscriptionsOf(workflow());
      await stage().retire(workflow());
      const { conversationId, write } = await stage().customerWrites('While nobody listens');
      await stage().service.restartWithClockAhead(OVER_A_MINUTE_MS);

      await stage().n8n.activate(workflow().id);
      const after = await stage().untilReceiving(workflow());
      expect(after.map(({ id }) => id)).not.toEqual(before.map(({ id }) => id));
      await write('Afterwards');
      const execution = await stage().execution(workflow(), EVENT, conversationId);
      expect(payloadOf(execution)).toMatchObject({ message: { text: 'Afterwards' } });
      const { body } = await stage().service.api.get(`/api/hooks/${after[0]!.id}/deliveries`);
      expect(body.data).toHaveLength(1);
      const { status } = await stage().service.api.get(`/api/hooks/${before[0]!.id}/deliveries`);
      expect(status).toBe(404);
    });
  });
}
