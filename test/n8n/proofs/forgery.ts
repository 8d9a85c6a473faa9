import { describe, expect, it } from '@jest/globals';
import { payloadOf, recordEvents, signature, type Signing, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const EVENT = 'message.received';
const bodyOf = (id: string, event = EVENT) =>
  JSON.stringify({ id, event, workspace: 'demo', conversation: { id: 'conv_forged' } });

/** What the service did not sign starts nothing. */
export function provesForgery(stage: () => Stage): void {
  describe('a forged delivery', () => {
    const workflow = withWorkflow(stage, recordEvents);
    const secret = () => stage().secretOf(workflow());
    const seconds = () => Date.now() / 1000;

    const forgeries: [string, () => Promise<Partial<Signing> & { body?: string }>][] = [
      ['with another secret', async () => ({ secret: 'whsec_guessed' })],
      [
        'signed more than five minutes ago',
        async () => ({ secret: await secret(), at: seconds() - 310 }),
      ],
      [
        'signed more than five minutes ahead',
        async () => ({ secret: await secret(), at: seconds() + 310 }),
      ],
      [
        'whose header names another event than its body',
        async () => ({ secret: await secret(), event: 'message.sent' }),
      ],
      [
        'whose delivery id is not the id of its body',
        async () => ({ secret: await secret(), deliveryId: 'evt_other' }),
      ],
      ['without a signature', async () => ({ secret: '', headers: { 'x-service-signature': '' } })],
    ];

    it.each(forgeries)('%s is answered 401', async (_what, forge) => {
      const answer = await stage().deliver(workflow(), bodyOf('evt_forged'), {
        secret: '',
        event: EVENT,
        ...(await forge()),
      });
      expect(answer.status).toBe(401);
    });

    it('whose body was changed after signing is answered 401', async () => {
      const signed = { secret: await secret(), event: EVENT };
      const header = signature(bodyOf('evt_genuine'), signed.secret);
      const answer = await stage().deliver(workflow(), bodyOf('evt_forged'), {
        ...signed,
        headers: { 'x-service-signature': header },
      });
      expect(answer.status).toBe(401);
    });

    it('started no execution, while a genuine one does', async () => {
      const answer = await stage().deliver(workflow(), bodyOf('evt_genuine'), {
        secret: await secret(),
        event: EVENT,
      });
      expect(answer.status).toBe(200);
      await stage().execution(workflow(), EVENT, 'conv_forged');
      const executions = await stage().executionsOf(workflow(), 'conv_forged');
      expect(executions.map((each) => payloadOf(each)?.id)).toEqual(['evt_genuine']);
    });
  });
}
