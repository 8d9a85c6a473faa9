import { describe, expect, it } from '@jest/globals';
import { bytesInFolder } from '../../helpers/folderFiles.ts';
import { deliveryStage, type Made } from './deliveryStage.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';

describe('several subscriptions that are revived', () => {
  const stage = deliveryStage();
  const { start, subscribe, remove, deliveries, write, received, delivered } = stage;

  it('do not count towards the limit of 25 while they are removed, and can redeliver what they sent', async () => {
    await start();
    const made: Made[] = [];
    for (let n = 0; n < 25; n++)
      made.push(await subscribe({ target_url: `${stage.receiver.url}/${n}` }));
    await write('hello');
    await delivered(made[0]!, 1);
    const [{ id: deliveryId }] = await deliveries(made[0]!);
    await received(25);
    for (const each of made) await remove(each);
    const again: Made[] = [];
    for (let n = 0; n < 25; n++)
      again.push(await subscribe({ target_url: `${stage.receiver.url}/${n}` }));
    expect(
      (
        await stage.service.api.post(
          `/api/hooks/${again[0]!.id}/deliveries/${deliveryId}/redeliver`,
        )
      ).status,
    ).toBe(200);
    await received(26);
    expect(stage.receiver.requests[25]!.path).toBe('/0');
  });

  it('are a hundred at most; the one that was removed first gives way', async () => {
    await start();
    for (let n = 0; n <= 100; n++) {
      await remove(await subscribe({ target_url: `${stage.receiver.url}/${n}` }));
      stage.clock.advance(10);
    }
    await write('hello');
    const second = await subscribe({ target_url: `${stage.receiver.url}/1` });
    await delivered(second, 1);
    const first = await subscribe({ target_url: `${stage.receiver.url}/0` });
    expect(await deliveries(first)).toEqual([]);
  });

  onEmbeddedStore(it)(
    'cost next to nothing while they are removed: what waits is not claimed over and over',
    async () => {
      await start();
      await remove(await subscribe());
      for (let n = 0; n < 20; n++) await write(`waits ${n}`);
      const bytesWritten = () => bytesInFolder(stage.service.folder);
      const before = await bytesWritten();
      // the cost of time that passes is under test
      await new Promise((resolve) => setTimeout(resolve, 2000));
      expect((await bytesWritten()) - before).toBeLessThan(10_000);
      await delivered(await subscribe(), 20);
    },
  );
});
