import { describe, expect, it } from '@jest/globals';
import { payloadOf, recordEvents, signature, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const EVENT = 'message.received';
const bodyOf = (id: string) =>
  JSON.stringify({ id, event: EVENT, workspace: 'demo', conversation: { id: 'conv_forged' } });

/**
 * n8n gives the trigger the very bytes that were signed. Every kind of forgery is in
 * test/nodes/trigger/receiving.test.ts.
 */
export function provesForgery(stage: () => Stage): void {
  describe('a forged delivery', () => {
    const workflow = withWorkflow(stage, recordEvents);

    it('whose body was changed starts no execution, while a genuine one does', async () => {
      const secret = await stage().secretOf(workflow());
      const genuine = bodyOf('evt_genuine');
      const headers = { 'x-service-signature': signature(genuine, secret) };
      const signing = { secret, event: EVENT, headers };
      const forged = await stage().deliver(workflow(), bodyOf('evt_forged'), signing);
      expect(forged.status).toBe(401);
      expect((await stage().deliver(workflow(), genuine, signing)).status).toBe(200);
      await stage().execution(workflow(), EVENT, 'conv_forged');
      const executions = await stage().executionsOf(workflow(), 'conv_forged');
      expect(executions.map((each) => payloadOf(each)?.id)).toEqual(['evt_genuine']);
    });
  });
}
