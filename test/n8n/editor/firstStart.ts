import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { webhookPath, type Workflow } from '../n8nServer.ts';
import { answerAndClose, payloadOf, type Customer, type Stage } from '../stage.ts';

/** On the README's first start, the service works with an n8n on the same machine over http. */
export function provesFirstStart(stage: () => Stage): void {
  describe('an n8n on the same machine', () => {
    let workflow: Workflow;
    let customer: Customer;
    beforeAll(async () => {
      workflow = await stage().run(answerAndClose);
      customer = await stage().customerWrites('Do you deliver to Sylt?', { name: 'Ada Lovelace' });
    });
    afterAll(() => stage().retire(workflow));

    it('subscribes the trigger at the http:// address that n8n has by default', async () => {
      const [subscription] = await stage().subscriptionsOf(workflow);
      const target = `http://localhost:${stage().n8n.port}${webhookPath(workflow)}`;
      expect(subscription!.target_url).toBe(target);
      expect(subscription!.events).toHaveLength(6);
    });

    it('sends it a signed event, which it verifies', async () => {
      const received = await stage().execution(
        workflow,
        'message.received',
        customer.conversationId,
      );
      expect(received.status).toBe('success');
      expect(payloadOf(received)).toMatchObject({ message: { text: 'Do you deliver to Sylt?' } });
    });

    it('refuses what was not signed', async () => {
      const { status } = await stage().deliver(workflow, '{"id":"evt_forged"}', {
        secret: 'whsec_unknown',
        event: 'message.received',
      });
      expect(status).toBe(401);
    });

    it('brings the answer of the workflow to the customer', async () => {
      const messages = await stage().until('the answer', async () => {
        const read = await customer.read();
        return read.length > 1 && read;
      });
      expect(messages[1]).toMatchObject({
        text: expect.stringContaining('Thank you, Ada Lovelace!'),
      });
    });

    it('still refuses another port of this machine', async () => {
      const { status, body } = await stage().service.api.post('/api/hooks', {
        event: 'message.received',
        target_url: `https://localhost:${stage().n8n.port + 1}/`,
      });
      expect(status).toBe(422);
      expect(body.error.code).toBe('target_url_not_public');
    });
  });
}
