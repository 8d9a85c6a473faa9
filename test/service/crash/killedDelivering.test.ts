import { describe, expect, it } from '@jest/globals';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

describe('a service that is killed', () => {
  const stage = new DyingStage();

  it('in the middle of a POST sends it again under the same id', async () => {
    const customer = await stage.customer();
    let killed = false;
    stage.onRequest = () => {
      if (killed) return true;
      killed = process.kill(stage.service.pid, 'SIGKILL');
      return false;
    };
    await customer.write('cut off');
    await stage.untilDead();
    await stage.startAgain();
    // On PostgreSQL, others take over only when the lease and the heartbeat have expired: they cannot
    // see that the process is dead.
    await waitFor('the second attempt', () => stage.sent('cut off').length === 2, {
      timeoutMs: 90_000,
    });
    await stage.expectNothingLost(customer, ['cut off']);
  }, 120_000);

  const afterTheAnswer: [string, Pick<DyingPoint, 'operation' | 'moment'>, number][] = [
    ['before any of its record is written', { operation: 'write', moment: 'before' }, 2],
    ['before the record is flushed to the disk', { operation: 'sync', moment: 'before' }, 1],
    ['right after the record is flushed', { operation: 'sync', moment: 'after' }, 1],
  ];
  onEmbeddedStore(it).each(afterTheAnswer)(
    'between the 2xx and its record, %s, repeats it with the same id or not at all',
    async (when, point, attempts) => {
      const customer = await stage.customer();
      const [answered, after] = [`answered, ${when}`, `after ${when}`];
      stage.dieAt({ ...point, file: 'journal', text: '"status":"delivered"' });
      await customer.write(answered);
      await stage.untilDead();
      await stage.startAgain();
      await customer.write(after);
      await stage.expectNothingLost(customer, [answered, after]);
      // What reached the page cache survives the death of a process, so that record counts.
      expect(stage.sent(answered)).toHaveLength(attempts);
    },
  );
});
