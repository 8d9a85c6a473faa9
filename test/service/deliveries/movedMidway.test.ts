import { describe, expect, it } from '@jest/globals';
import type { ReceiverHandler } from '../../helpers/tls.ts';
import { breakOff, deliveryStage, status } from './deliveryStage.ts';

describe('an attempt that was under way when target_url was changed', () => {
  const stage = deliveryStage();
  const { start, subscribe, deliveries, write, delivered, holdAttempt, loopHasTurned } = stage;

  /** Changes the address while the old one holds its answer, then lets it give that answer. */
  const moveMidway = async (answer: ReceiverHandler) => {
    await start();
    const made = await subscribe();
    const finish = await holdAttempt();
    const changes = { target_url: `${stage.receiver.url}/new` };
    expect((await stage.service.api.patch(`/api/hooks/${made.id}`, changes)).status).toBe(200);
    finish(answer);
    return made;
  };
  const paths = () => stage.receiver.requests.map(({ path }) => path);

  it.each([
    ['410', status(410)],
    ['401', status(401)],
    ['404', status(404)],
    ['500', status(500)],
    ['a reset', breakOff],
  ])('is made again at the new address after %s of the old one', async (_what, answer) => {
    const made = await moveMidway(answer);
    await delivered(made, 1);
    expect(paths()).toEqual(['/events', '/new']);
    expect((await deliveries(made))[0].attempts).toMatchObject([
      { error: expect.stringMatching(/address was changed during this attempt/) },
      { status_code: 200, error: null, trigger: 'automatic' },
    ]);
    const [shown] = (await stage.service.api.get('/api/hooks')).body.data;
    expect(shown).toMatchObject({ id: made.id, consecutive_failures: 0 });
    await write('later');
    await delivered(made, 2);
  });

  it('is not repeated when the old address took the event', async () => {
    const made = await moveMidway(status(200));
    await delivered(made, 1);
    await loopHasTurned();
    expect(paths()).toEqual(['/events']);
  });
});
