// Contacts over the API: masked, searched, and in the clear for a key that may reveal them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { apiClient, chatCustomer, type ApiClient } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import { connectNumber, deliver, metaText, type ConnectedNumber } from '../../helpers/meta.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';

const MARIA = { name: 'María López', phone: '+54 9 11 5555-0134', email: 'Maria@example.com' };

describe('contacts', () => {
  let service: TestService;
  let browser: Browserless;
  let mayReveal: ApiClient;
  let maria: { id: string; conversationId: string };
  let logged = '';

  beforeAll(async () => {
    service = await startTestService({
      env: MEMBER_ENV,
      log: pino({ level: 'info' }, { write: (line) => void (logged += line) }),
    });
    browser = await signedInBrowser(service.url);
    await browser.get('/keys');
    const page = await browser.post('/keys', { name: 'crm', reveal: 'on' });
    mayReveal = apiClient(service.url, /cs_live_[0-9A-Za-z]{32}/.exec(page.html)![0]);
    await opened({ name: 'Ana', email: 'ana@example.com' });
    const { conversation_id: conversationId } = await opened(MARIA);
    const { body } = await service.api.get(`/api/conversations/${conversationId}`);
    maria = { id: body.contact.id, conversationId };
  });
  afterAll(() => service?.stop());

  const opened = async (claims: Record<string, unknown>) =>
    (await chatCustomer(service.url, claims)).write('hello');
  const found = async (q: string) => {
    const { status, body } = await service.api.get(`/api/contacts?q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
    return body.data.map(({ name }: { name: string }) => name);
  };

  it('are shown masked, with their newest conversation', async () => {
    const { body } = await service.api.get(`/api/contacts/${maria.id}`);
    expect(body).toEqual({
      id: maria.id,
      name: 'María López',
      phone_masked: '+54•••••••••34',
      email_masked: 'm••••@e••••••.com',
      channel: 'web_chat',
      channel_account: null,
      verified: false,
      last_conversation_id: maria.conversationId,
      created_at: expect.any(String),
    });
    expect((await service.api.get(`/api/contacts/${maria.id}?reveal=false`)).body).toEqual(body);
  });

  it('are listed newest first, page by page', async () => {
    const first = (await service.api.get('/api/contacts?limit=1')).body;
    expect(first.data).toMatchObject([{ name: 'María López' }]);
    const second = (await service.api.get(`/api/contacts?limit=1&cursor=${first.next_cursor}`))
      .body;
    expect(second).toMatchObject({ data: [{ name: 'Ana' }], next_cursor: null });
  });

  it.each([
    ['maria l', ['María López']],
    ['+54 9 11 5555 0134', ['María López']],
    ['MARIA@example.com', ['María López']],
    ['m••••@e', ['María López']],
    ['an', ['Ana']],
    ['', ['María López', 'Ana']],
    // A part of what is masked finds nothing: it would reveal the rest, part by part.
    ['5550134', []],
    ['maria@exam', []],
    ['@example.com', []],
  ])(
    'are found by a whole number or address, or by a part of what is shown: %j',
    async (q, names) => {
      expect(await found(q)).toEqual(names);
    },
  );

  it('are found by the masked number in a name, and not by a part of the number itself', async () => {
    await opened({ name: 'Call 5491144445678' });
    expect(await found('call +54•')).toEqual(['Call +54•••••••••78']);
    expect(await found('call +54•••••••••79')).toEqual([]);
    expect(await found('call 54911')).toEqual([]);
  });

  it('are in the clear for a key that may reveal them, and each reading is on record', async () => {
    const path = `/api/contacts/${maria.id}?reveal=true`;
    const refused = await service.api.get(path);
    expect(refused.status).toBe(403);
    expect(refused.body.error.code).toBe('permission_missing');
    expect(JSON.stringify(refused.body)).not.toMatch(/5555|example/);
    logged = '';
    for (let time = 0; time < 2; time++) {
      const { status, body } = await mayReveal.get(path);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        name: 'María López',
        phone: '+5491155550134',
        email: 'maria@example.com',
        phone_masked: '+54•••••••••34',
      });
    }
    expect((await mayReveal.get(`/api/contacts/${maria.id}`)).body.phone).toBeUndefined();
    const keyId = /\/keys\/(key_[0-9A-Z]{26})\/reveals/.exec(
      (await browser.get('/keys')).html,
    )![1]!;
    expect(logged.split('\n').filter((line) => line.includes('read in the clear'))).toEqual([
      expect.stringContaining(`"contact":"${maria.id}","key":"${keyId}"`),
      expect.stringContaining(`"contact":"${maria.id}","key":"${keyId}"`),
    ]);
    expect(logged).not.toMatch(/5491155550134|maria@example/);
    const record = await browser.get(`/keys/${keyId}/reveals`);
    expect(record.text.match(/María López/g)).toHaveLength(2);
    expect(record.html).toContain(`/conversations/${maria.conversationId}`);
    expect(record.html).not.toContain('id="newest"');
    const later = await browser.get(`/keys/${keyId}/reveals?after=${keyId}`);
    expect(later.html).toContain(`id="newest" href="/keys/${keyId}/reveals"`);
    expect((await browser.get(`/conversations/${maria.conversationId}`)).text).toContain(
      'Details read by crm (API) now',
    );
  });
});

describe('a customer whose number has a digit more or less on WhatsApp', () => {
  let service: TestService;
  let number: ConnectedNumber;
  beforeAll(async () => {
    service = await startTestService();
    number = await connectNumber(service.api);
  });
  afterAll(() => service?.stop());

  it.each([
    ['5215512345678', '+52 55 1234 5678'],
    ['528112345678', '+52 1 81 1234 5678'],
    ['553188881234', '+55 31 98888-1234'],
    ['5531977775678', '+55 31 7777-5678'],
    ['5491155550134', '+54 11 5555-0134'],
    ['543514123456', '+54 9 351 412-3456'],
  ])('who is %s is found by %s, on WhatsApp before in the chat', async (phone, written) => {
    const { status } = await deliver(service.url, number, metaText('hello', { phone }));
    expect(status).toBe(200);
    const { body: newest } = await service.api.get('/api/contacts?limit=1');
    const customer = newest.data[0];
    const visitors: string[] = [];
    for (const claimed of [`+${phone}`, written, `+${phone}`]) {
      const visitor = await chatCustomer(service.url, { phone: claimed });
      await visitor.write('hi');
      visitors.unshift(visitor.contactId);
    }

    const found = await service.api.post('/api/contacts/lookup', { phone: written });
    expect(found.body.id).toBe(customer.last_conversation_id);
    const q = encodeURIComponent(written);
    const { body: conversations } = await service.api.get(`/api/conversations?q=${q}`);
    expect(conversations.data.at(-1).id).toBe(customer.last_conversation_id);
    const listed: string[] = [];
    for (let cursor = ''; listed.length < 9; ) {
      const { body } = await service.api.get(`/api/contacts?q=${q}&limit=1${cursor}`);
      listed.push(...body.data.map(({ id }: { id: string }) => id));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(listed).toEqual([customer.id, ...visitors]);
    expect((await service.api.get(`/api/contacts?q=${q}`)).body.data).toHaveLength(4);
  });
});

describe('a customer whose number many visitors of the chat claim', () => {
  const PHONE = '5491155550166';
  let service: TestService;
  let customerId: string;
  /** The newest one has a conversation. */
  const visitors: string[] = [];

  beforeAll(async () => {
    service = await startTestService();
    const number = await connectNumber(service.api);
    expect((await deliver(service.url, number, metaText('hello', { phone: PHONE }))).status).toBe(
      200,
    );
    customerId = (await service.api.get('/api/contacts')).body.data[0].id;
    for (let count = 0; count < 201; count++) {
      const visitor = await chatCustomer(service.url, { phone: `+${PHONE}` });
      visitors.unshift(visitor.contactId);
      if (count === 200) await visitor.write('I am it');
    }
  });
  afterAll(() => service?.stop());

  it('comes first among the contacts, and each visitor follows once, page by page', async () => {
    for (const limit of [1, 7, 200]) {
      const listed: string[] = [];
      for (let cursor = ''; ; ) {
        const path = `/api/contacts?q=%2B${PHONE}&limit=${limit}${cursor}`;
        const { body } = await service.api.get(path);
        listed.push(...body.data.map(({ id }: { id: string }) => id));
        if (body.next_cursor === null) break;
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect(listed).toEqual([customerId, ...visitors]);
    }
  });

  it('is among the conversations', async () => {
    const { body } = await service.api.get(`/api/conversations?q=%2B${PHONE}`);
    const contacts = body.data.map(({ contact }: { contact: { id: string } }) => contact.id);
    expect(contacts).toEqual([visitors[0], customerId]);
  });

  it('is who a lookup finds', async () => {
    const { body } = await service.api.post('/api/contacts/lookup', { phone: `+${PHONE}` });
    expect(body.contact.id).toBe(customerId);
  });
});
