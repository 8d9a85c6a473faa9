// What is counted survives kill -9 at any moment. Many such kills: `npm run test:load`.
import { afterEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { totals } from './support.ts';

const ENOUGH = 20;
const WRITERS = 3;

describe('a service that is killed while it counts', () => {
  let service: ServiceProcess;
  afterEach(() => service?.close());

  it('has counted each stored conversation once, and none that is not stored', async () => {
    service = await startServiceProcess({ env: MEMBER_ENV });
    let isDown = false;
    let written = 0;
    const writeUntilDown = async () => {
      while (!isDown) {
        try {
          await (await chatCustomer(service.url)).write('Hello');
          written += 1;
        } catch {
          return;
        }
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, writeUntilDown));
    await waitFor('enough conversations', () => written >= ENOUGH, { everyMs: 1 });
    const restarting = service.crashAndStartHere();
    isDown = true;
    await Promise.all([restarting, writing]);
    const { body } = await service.api.get('/api/conversations?limit=200');
    const stored = body.data.length;
    expect(stored).toBeGreaterThanOrEqual(written);
    const counted = await totals(await signedInBrowser(service.url), 'conversations', '?range=7d');
    expect(counted.Opened).toBe(stored);
  });
});
