// What stays of a contact that was forgotten: nothing that names them or that they wrote.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  forgetContact,
  forgettingJobId,
} from '../../../service/src/conversations/contacts/forgetContact.ts';
import { RANK } from '../../../service/src/deliveries/delivery.ts';
import { requeueDelivery } from '../../../service/src/deliveries/operations/emit.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import { chatCustomer, type ApiClient } from '../../helpers/apiClient.ts';
import {
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
  type Page,
} from '../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { startTlsReceiver, type TlsReceiver } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { makeLink, newConversation, setUpManual } from '../payments/support.ts';
import { textOf } from './textOfStore.ts';

/** Words that only this customer's data holds, for each place where the service stores some. */
const PERSONAL = [
  'Zoraida',
  'zoraida@example.com',
  '5491155550134',
  'myorchid',
  'teamorchid',
  'noteorchid',
  'summaryorchid',
  'answerorchid',
  'payorchid',
  'waitorchid',
  'detailorchid',
  'labelorchid',
];

const FORGOTTEN_PAGE = /^\/contacts\/ctc_[0-9A-Z]{26}\/forgotten$/;

describe('forgetting a contact', () => {
  let service: TestService;
  let receiver: TlsReceiver;
  let api: ApiClient;
  let browser: Browserless;
  beforeEach(async () => {
    receiver = await startTlsReceiver(({ rawBody }, response) =>
      response.writeHead(500).end(rawBody.includes('orchid') ? 'You sent: answerorchid' : 'No.'),
    );
    service = await startTestService({
      ca: receiver.ca,
      env: { ...MEMBER_ENV, DELIVERY_RETRY_DELAYS_MS: '600000,600000,600000' },
    });
    ({ api } = service);
    browser = await signedInBrowser(service.url);
  });
  afterEach(async () => {
    await service?.stop();
    await receiver.close();
  });

  const waitUntilRemoved = ({ path }: Page) =>
    waitFor('everything to be removed', async () => {
      const now = await browser.get(path);
      return now.text.includes('Everything personal was removed.') && now;
    });
  const forget = async (conversationId: string) => {
    const asked = await browser.get(`/conversations/${conversationId}/contact`);
    const page = await browser.post(`/conversations/${conversationId}/forget`, { sure: 'on' });
    expect(page.path).toMatch(FORGOTTEN_PAGE);
    return { asked, done: await waitUntilRemoved(page) };
  };

  /** Opens the page of a new customer. @returns the id of their conversation */
  const openContact = async () => {
    const id = await newConversation(service);
    await browser.get(`/conversations/${id}/contact`);
    return id;
  };

  /** A customer of whom something is stored in every place. */
  async function customerEverywhere() {
    const hook = await api.post('/api/hooks', {
      events: ['conversation.opened', 'message.received', 'message.sent', 'conversation.closed'],
      target_url: `${receiver.url}/hook`,
      source: 'test',
    });
    await setUpManual(service);
    const details = { name: 'Zoraida', email: 'zoraida@example.com', phone: '+5491155550134' };
    const customer = await chatCustomer(service.url, details);
    const first = (await customer.write('I grow myorchid')).conversation_id;
    await api.post(`/api/conversations/${first}/messages`, { text: 'For you: teamorchid' });
    await api.post(`/api/conversations/${first}/notes`, { text: 'Likes noteorchid' });
    await api.post(`/api/conversations/${first}/close`, {
      summary: 'Bought summaryorchid',
      verdict: 'goal_reached',
    });
    const open = (await customer.write('One more myorchid')).conversation_id;
    const wanted = { currency: 'eur', description: 'One payorchid' };
    const paid = await makeLink(service, open, wanted);
    await api.post(`/api/payment-links/${paid.id}/mark-paid`, {
      reference: 'TR-77, zoraida@example.com',
    });
    const unpaid = await makeLink(service, open, wanted);
    const wait = await api.post('/api/waits', {
      kind: 'decision',
      conversation_id: open,
      message: 'May we send waitorchid?',
      details: { to: 'detailorchid' },
      approve_label: 'Send it to labelorchid',
      resume_url: `${receiver.url}/resume`,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    expect(wait.status).toBe(201);
    await waitFor('the first attempts', () => receiver.requests.length >= 5);
    return { customer, first, open, paid, unpaid, hook: hook.body.id, wait: wait.body.id };
  }

  it('names what will go, removes it everywhere and says how much it was', async () => {
    const other = await chatCustomer(service.url, { name: 'Other' });
    const kept = (await other.write('I stay')).conversation_id;
    const { customer, first, open, paid, unpaid, hook, wait } = await customerEverywhere();
    await other.write('And I stay longer');

    const { asked, done } = await forget(open);
    expect(asked.text).toContain('The name, the phone number, and the email');
    expect(asked.text).toContain('2 conversations with 3 messages');
    expect(done.text).toContain('2 conversations 3 messages');
    expect(done.text).toContain('1 question of a workflow');
    expect(done.text).toMatch(/\d events \d deliveries/);
    expect(done.text).toContain('2 payments with amount, status, times and reference');

    for (const id of [first, open]) {
      expect((await api.get(`/api/conversations/${id}`)).status).toBe(404);
      expect((await browser.get(`/conversations/${id}`)).status).toBe(404);
    }
    expect((await api.post('/api/contacts/lookup', { phone: '+5491155550134' })).status).toBe(404);
    expect((await api.get('/api/contacts')).body.data).toMatchObject([{ name: 'Other' }]);
    expect((await browser.get('/conversations?q=myorchid')).text).toContain('No results');
    expect((await customer.api.get('/api/chat/messages')).status).toBe(401);

    // The deliveries about this customer are gone; the one about the other customer stays.
    const left = (await api.get(`/api/hooks/${hook}/deliveries`)).body.data;
    expect(left).toMatchObject([{ status: 'pending' }]);
    expect((await api.get(`/api/conversations/${kept}`)).body.messages[0].text).toBe('I stay');

    // The books stay, and the workflow goes on.
    expect((await api.get(`/api/payment-links/${paid.id}`)).body).toMatchObject({
      amount: 4900,
      currency: 'eur',
      status: 'paid',
      provider_reference: 'TR-77, z••••••@e••••••.com',
      description: 'Removed',
    });
    expect((await api.get(`/api/payment-links/${unpaid.id}`)).body.status).toBe('cancelled');
    expect((await browser.get('/payments')).text).toContain('from Forgotten contact');
    expect((await api.get(`/api/waits/${wait}`)).body).toMatchObject({
      status: 'cancelled',
      message: '',
      details: null,
    });
    expect((await browser.get('/waiting')).text).not.toContain('Questions that have ended');

    const text = await service.changeStored(async (store) => {
      const before = await textOf(store);
      await store.forgetHistory();
      return before;
    });
    expect(PERSONAL.filter((word) => text.includes(word))).toEqual([]);
    const stored = await service.stored();
    expect(PERSONAL.filter((word) => stored.includes(word))).toEqual([]);
  });

  it('sends and shows no event of the contact from the first moment on, before the job has begun', async () => {
    const wanted = { event: 'message.received', target_url: receiver.url };
    const path = `/api/hooks/${(await api.post('/api/hooks', wanted)).body.id}/deliveries`;
    const deliveries = async () => (await service.api.get(path)).body.data;
    const theirs = await chatCustomer(service.url, { name: 'Zoraida' });
    await theirs.write('I grow myorchid');
    await (await chatCustomer(service.url)).write('I stay');
    const [other, delivery] = await waitFor('the first attempts', async () => {
      const all = await deliveries();
      return all.every(({ attempts }: { attempts: unknown[] }) => attempts.length === 1) && all;
    });
    const sentBefore = receiver.requests.length;

    await service.changeStored(async (store) => {
      const { contactId } = theirs;
      const contact = await store.transaction((tx) => tx.contacts.peek(contactId));
      const by = { type: 'team_member', name: 'ana' } as const;
      const within = { id: contact!.workspaceId } as Workspace;
      await forgetContact({ store, clock: systemClock }, within, contactId, by);
      const round = { trigger: 'manual', isRepeat: false, rank: RANK.new } as const;
      await store.transaction(async (tx) => {
        await tx.jobs.complete(forgettingJobId(contactId));
        for (const { id } of [delivery, other])
          await requeueDelivery(tx, (await tx.deliveries.get(id))!, round, new Date());
      });
    });

    expect((await deliveries()).map(({ id }: { id: string }) => id)).toEqual([other.id]);
    const page = `/keys${path.replace('/api/hooks', '/subscriptions')}`;
    const again = await signedInBrowser(service.url);
    expect((await again.get(`${page}/${other.id}`)).text).toContain('I stay');
    expect((await again.get(`${page}/${delivery.id}`)).status).toBe(404);
    for (const id of [delivery.id, delivery.event_id]) {
      const search = `/keys/deliveries?id=${id}`;
      expect(await again.get(search)).toMatchObject({ status: 404, path: search });
    }
    expect((await service.api.post(`${path}/${delivery.id}/redeliver`)).status).toBe(404);
    await waitFor('the other to be sent again', () => receiver.requests.length > sentBefore);
    const stored = await service.changeStored((store) =>
      store.transaction((tx) => tx.deliveries.peek(delivery.id)),
    );
    expect(stored).toMatchObject({ status: 'cancelled', attempts: [{ number: 1 }] });
    const sent = receiver.requests.slice(sentBefore).map(({ rawBody }) => String(rawBody));
    expect(sent.filter((body) => body.includes('myorchid'))).toEqual([]);
  });

  it('asks once more, and removes nothing until the box is ticked', async () => {
    const id = await openContact();
    const page = await browser.post(`/conversations/${id}/forget`);
    expect(page.text).toContain('Nothing was removed.');
    expect((await api.get(`/api/conversations/${id}`)).body.contact.name).toBe('Eva');
  });

  it('leads a second click to the page of the first, before and after everything is gone', async () => {
    const id = await openContact();
    const click = () => browser.post(`/conversations/${id}/forget`, { sure: 'on' });
    const [first, second] = await Promise.all([click(), click()]);
    expect(first.path).toMatch(FORGOTTEN_PAGE);
    expect([second.status, second.path]).toEqual([200, first.path]);
    await waitUntilRemoved(first);
    const third = await click();
    expect([third.status, third.path]).toEqual([200, first.path]);
  });

  it('renames a contact, in events and searches too', async () => {
    const id = await openContact();
    const rename = (name: string) => browser.post(`/conversations/${id}/contact`, { name });
    expect((await rename('🙂'.repeat(200))).status).toBe(200);
    expect((await rename('a\0b')).status).toBe(400);
    expect((await rename(' Zora of Acme ')).text).toContain('Zora of Acme');
    expect((await api.get(`/api/conversations/${id}`)).body.contact.name).toBe('Zora of Acme');
    expect((await browser.get('/conversations?q=acme')).html).toContain(id);
    const long = await rename('x'.repeat(201));
    expect(long.status).toBe(400);
    expect(long.problem('name')).toBe('Must have at most 200 characters.');
  });
});
