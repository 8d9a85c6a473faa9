import { beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { connectNumber, deliver, metaText } from '../../helpers/meta.ts';
import { contactById, type Rest, useService } from '../helpers/actions.ts';
import { failureOf } from '../helpers/n8n.ts';

const { open, resource, service } = useService(MEMBER_ENV);
const contact = resource('contact');
const conversation = resource('conversation');

/** A customer with a phone number and an e-mail, and the id of their contact. */
async function openAs(name: string, details: { email: string; phone: string }) {
  const { id } = await open('Hello', { name, ...details });
  const { body } = await service().api.get(`/api/conversations/${id}`);
  return { conversationId: id, contactId: body.contact.id as string };
}

describe('Contact', () => {
  const details = { email: 'zoe@example.com', phone: '+49 170 1234567' };
  let zoe: Awaited<ReturnType<typeof openAs>>;
  beforeAll(async () => {
    zoe = await openAs('Zoe', details);
    await open('Hello', { name: 'Yann' });
  });

  it('is shown masked, by default that of the conversation in the item', async () => {
    const { items } = await contact('get', { input: [{ contact: { id: zoe.contactId } }] });
    expect(items).toMatchObject([
      {
        id: zoe.contactId,
        name: 'Zoe',
        email_masked: expect.stringContaining('•'),
        last_conversation_id: zoe.conversationId,
      },
    ]);
    expect(items[0]).not.toHaveProperty('email');
  });

  describe('in the clear', () => {
    const parameters = () => ({ ...contactById(zoe.contactId), options: { reveal: true } });

    it('is refused to a key without the permission, and the fix says what to tick', async () => {
      const error = await failureOf(contact('get', { parameters: parameters() }));
      expect(error).toMatchObject({
        httpCode: '403',
        message: expect.stringContaining('contacts:reveal'),
        description: expect.stringContaining('"May read contact details in the clear"'),
      });
    });

    it('is shown to a key with the permission', async () => {
      const browser = await signedInBrowser(service().url);
      await browser.get('/keys');
      const { html } = await browser.post('/keys', { name: 'crm', reveal: 'on' });
      expect(html).toContain('May read contact details in the clear');
      const apiKey = /cs_live_[0-9A-Za-z]{32}/.exec(html)![0];
      const credential = { baseUrl: service().url, apiKey };
      const { items } = await contact('get', { credential, parameters: parameters() });
      expect(items[0]).toMatchObject({ phone: '+491701234567', email: 'zoe@example.com' });
    });
  });

  it.each([
    ['email', ' Zoe@example.com '],
    ['phone', '+49 (170) 1234567'],
    ['phone', '\u202a+49 170\u20111234\u2013567\u202c'],
  ])('is found by %s', async (findBy, value) => {
    const { items } = await contact('find', { parameters: { findBy, [findBy]: value } });
    expect(items.map(({ id }) => id)).toEqual([zoe.contactId]);
  });

  it('that is unknown is an error, or no item, as set', async () => {
    const parameters = { findBy: 'email', email: 'nobody@example.com' };
    expect(await failureOf(contact('find', { parameters }))).toMatchObject({
      message: 'There is no contact with these details',
      description: expect.stringContaining('Return Nothing'),
    });
    const { items } = await contact('find', { parameters: { ...parameters, ifNotFound: 'empty' } });
    expect(items).toEqual([]);
  });

  it.each([
    ['email', 'Zoe'],
    ['email', 'z••@e••••••.com'],
    ['phone', '1234'],
    ['phone', '+49•••••••••67'],
  ])('is not looked up by a part: %s %s', async (findBy, value) => {
    const error = await failureOf(contact('find', { parameters: { findBy, [findBy]: value } }));
    expect(error.message).toMatch(/^".*" is not a whole (email address|phone number)$/);
  });

  it('is listed, newest first, and by a part of the name', async () => {
    const names = async (parameters: Rest['parameters']) =>
      (await contact('getAll', { parameters })).items.map(({ name }) => name);
    expect(await names({ returnAll: true })).toEqual(['Yann', 'Zoe']);
    expect(await names({ limit: 1 })).toEqual(['Yann']);
    expect(await names({ filters: { q: 'zo' } })).toEqual(['Zoe']);
  });

  it('with the ID of something else is refused before the service is called', async () => {
    expect(await failureOf(contact('get', { input: [{ id: 'conv_1' }] }))).toMatchObject({
      message: '"conv_1" is not the ID of a contact',
      description: expect.stringContaining('Conversation → Get'),
    });
  });

  it('is taken from the output of Conversation → Get', async () => {
    const { items } = await conversation('get', {
      input: [{ conversation_id: zoe.conversationId }],
    });
    const { items: got } = await contact('get', { input: items });
    expect(got[0]).toMatchObject({ id: zoe.contactId });
  });

  it('is the customer on WhatsApp, however many visitors of the chat claim the number', async () => {
    const phone = '5491155550166';
    const number = await connectNumber(service().api);
    await deliver(service().url, number, metaText('hello', { phone }));
    for (let count = 0; count < 50; count++)
      await chatCustomer(service().url, { name: 'Visitor', phone: `+${phone}` });
    const parameters = { findBy: 'phone', phone: `+${phone}` };
    const { items } = await contact('find', { parameters });
    expect(items).toMatchObject([{ channel: 'whatsapp_cloud', verified: true }]);
  });
});
