import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { KEY, StoppingStage } from './stoppingStage.ts';

const STALLING = fileURLToPath(new URL('./stallingService.child.ts', import.meta.url));

describe('SIGTERM', () => {
  const stage = new StoppingStage();

  it('gives a snapshot up, keeps everything, and exits 0', async () => {
    const url = await stage.start({ STALL: 'snapshot' }, STALLING);
    const customer = await chatCustomer(url);
    for (let n = 0; n < 12 && !stage.out.includes('STALLED'); n += 1)
      await customer.write(`${n} ${'x'.repeat(4000)}`);
    await waitFor('the snapshot to be under way', () => stage.out.includes('STALLED'));
    const written = await customer.write('during the snapshot');
    const { code, ms } = await stage.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(24_000);
    expect(stage.out).not.toContain('could not be closed in time');
    const again = apiClient(await stage.startHere(), customer.token);
    expect((await again.get('/api/chat/messages?limit=200')).body.data.at(-1).id).toBe(
      written.message_id,
    );
  });

  it('during an outage of the disk gives up in time, exits 0, and repeats what could not be recorded', async () => {
    const url = await stage.start({ STALL: 'full-from-signal' }, STALLING);
    await stage.receiver.subscribe({ api: apiClient(url, KEY) }, 'message.received');
    const customer = await chatCustomer(url);
    let end = () => {};
    stage.answer = (ending) => (end = ending);
    await customer.write('delivered, not recorded');
    await waitFor('the request', () => stage.receiver.requests.length === 1);
    stage.child.kill('SIGUSR2');
    await waitFor('the disk to be full', () => stage.out.includes('FULL'));
    end();
    expect(
      (await customer.api.post('/api/chat/messages', { text: 'refused', client_message_id: 'r' }))
        .status,
    ).toBe(503);
    await waitFor('/readyz to say so', async () => (await fetch(`${url}/readyz`)).status === 503);
    const { code, ms } = await stage.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(24_000);
    stage.answer = (ending) => ending();
    await stage.startHere();
    await waitFor('the repeat', () => stage.receiver.requests.length === 2);
    expect(new Set(stage.receiver.payloads().map(({ id }) => id)).size).toBe(1);
  });

  it('exits 0 although the disk never ends an fsync, and keeps what was acknowledged', async () => {
    const url = await stage.start({ STALL: 'fsync-from-signal' }, STALLING);
    const customer = await chatCustomer(url);
    const { message_id: id } = await customer.write('acknowledged');
    stage.child.kill('SIGUSR2');
    await waitFor('the disk to hang', () => stage.out.includes('HANGS'));
    const waiting = customer.write('not acknowledged').then(
      () => 'taken',
      () => 'refused',
    );
    await waitFor('a write that waits', () => stage.out.includes('WAITING'));
    const { code, ms } = await stage.stop();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(24_000);
    expect(await waiting).toBe('refused');
    const again = apiClient(await stage.startHere(), customer.token);
    expect((await again.get('/api/chat/messages')).body.data[0].id).toBe(id);
  }, 60_000);
});
