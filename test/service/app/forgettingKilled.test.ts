// Forgetting a contact is finished even when the service is killed while it runs.
import { afterEach, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';

let service: ServiceProcess;
afterEach(() => service?.close());

/** Several transactions remove them. */
const MESSAGES = 2000;
const AT_ONCE = 20;
const DONE = 'Everything personal was removed.';

it('is forgotten after kill -9, with what others wrote left alone', async () => {
  service = await startServiceProcess({ env: MEMBER_ENV });
  const [customer, other] = await Promise.all([
    chatCustomer(service.url, { name: 'Zoraida' }),
    chatCustomer(service.url, { name: 'Bruno' }),
  ]);
  const { conversation_id: kept } = await other.write('I stay');
  const { conversation_id: id } = await customer.write('myorchid, the first');
  for (let sent = 1; sent < MESSAGES; sent += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => customer.write('myorchid again')));

  const ana = await signedInBrowser(service.url);
  await ana.get(`/conversations/${id}/contact`);
  const page = await ana.post(`/conversations/${id}/forget`, { sure: 'on' });
  expect(page.text).not.toContain(DONE);
  for (let kills = 0; kills < 3; kills += 1) await service.crashAndRestart();

  const again = await signedInBrowser(service.url);
  const done = await waitFor('the end', async () => {
    const now = await again.get(page.path);
    return now.text.includes(DONE) && now;
  });
  expect(done.text).toContain('2,001 messages');
  expect((await service.api.get(`/api/conversations/${id}`)).status).toBe(404);
  expect((await service.api.get('/api/conversations?q=myorchid')).body.data).toEqual([]);
  const { body } = await service.api.get(`/api/conversations/${kept}`);
  expect(body.messages.map(({ text }: { text: string }) => text)).toEqual(['I stay']);
  expect(body.contact.name).toBe('Bruno');
});
