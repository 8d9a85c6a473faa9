import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage, NEVER } from './dyingStage.ts';

describe('a service that is killed', () => {
  const stage = new DyingStage();

  it('in the middle of a POST sends it again under the same id', async () => {
    const customer = await stage.start(NEVER);
    let killed = false;
    stage.onRequest = () => {
      if (killed) return true;
      killed = process.kill(stage.service.pid, 'SIGKILL');
      return false;
    };
    await customer.write('cut off');
    await stage.untilDead();
    await stage.startAgain();
    // On a database others take over only after the lease and the heartbeat: nobody can see that
    // the process is dead.
    await waitFor('the second sending', () => stage.receiver.payloads().length === 2, {
      timeoutMs: 90_000,
    });
    await stage.expectNothingLost(customer, ['cut off']);
  }, 120_000);

  const afterTheAnswer: [string, DyingPoint, number][] = [
    [
      'before anything of its record is written',
      { operation: 'write', file: 'journal', moment: 'before' },
      2,
    ],
    [
      'before the record is on the disk for certain',
      { operation: 'sync', file: 'journal', moment: 'before' },
      1,
    ],
    ['right after the record', { operation: 'sync', file: 'journal', moment: 'after' }, 1],
  ];
  onEmbeddedStore(it).each(afterTheAnswer)(
    'between the 2xx and its record, %s, repeats it with the same id or not at all',
    async (_when, point, sendings) => {
      const customer = await stage.start(point);
      let isFirst = true;
      stage.onRequest = () => {
        if (isFirst) writeFileSync(stage.armed, '');
        isFirst = false;
        return true;
      };
      await customer.write('answered');
      await stage.untilDead();
      await stage.startAgain();
      await customer.write('after');
      await waitFor(
        'the next event',
        () => stage.receiver.payloads().at(-1)?.message.text === 'after',
      );
      const sent = () =>
        stage.receiver.payloads().filter(({ message }) => message.text === 'answered').length;
      // What reached the page cache survives the death of a process: then its record counts.
      await waitFor('the repeat', () => sent() >= sendings);
      expect(sent()).toBe(sendings);
      await stage.expectNothingLost(customer, ['answered', 'after']);
    },
  );
});
