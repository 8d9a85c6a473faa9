// A member's reply takes its locks in the order of decision 33: the member, then the conversation.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { holdRow } from './holdRow.ts';
import { sides } from './sides.ts';

const onPostgres = testDatabaseUrl() === null ? describe.skip : describe;

onPostgres('a reply that waits for its member', () => {
  const service = sides({ env: () => MEMBER_ENV });
  let otherUrl: string;
  let ana: Browserless;
  let anaId: string;
  beforeAll(async () => {
    ana = await signedInBrowser(service.url);
    otherUrl = service.url;
    anaId = (await service.api.get('/api/members')).body.data[0].id;
  });

  it('holds up nobody else who changes the conversation', async () => {
    const customer = await chatCustomer(otherUrl);
    const { conversation_id: id } = await customer.write('Hello?');
    await ana.get(`/conversations/${id}`);
    const held = await holdRow(service.schema!, 'members', anaId);
    try {
      const reply = ana.post(`/conversations/${id}/reply`, { text: 'Hello!', seen: '1' });
      await waitFor('the reply to wait', async () => (await held.countWaiting()) === 1);
      let isWritten = false;
      const writing = customer.write('Anybody there?').finally(() => (isWritten = true));
      await waitFor(
        'the customer’s next message, or for it to wait too',
        async () => isWritten || (await held.countWaiting()) === 2,
      );
      expect(isWritten).toBe(true);
      await held.release();
      expect((await reply).path).toBe(`/conversations/${id}`);
      await writing;
    } finally {
      await held.release();
    }
  });
});
