// Texts that a team sends often: written once, filled in for each customer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

const PATH = '/settings/canned-replies';

describe('canned replies', () => {
  let service: TestService;
  let ana: Browserless;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    ana = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());

  const threadOf = async (claims: { name?: string; email?: string }) => {
    const customer = await chatCustomer(service.url, claims);
    return ana.get(`/conversations/${(await customer.write('Hi')).conversation_id}`);
  };
  const idOf = async (shortcut: string) =>
    new RegExp(`<li id="(canned_\\w+)">(?:(?!</li>).)*/${shortcut}<`, 's').exec(
      (await ana.get(PATH)).html,
    )![1]!;

  it('are reached from Settings, and filled in for the customer of a conversation', async () => {
    expect((await ana.get('/settings')).html).toContain(`href="${PATH}"`);
    const page = await ana.post(PATH, {
      name: 'Opening hours',
      shortcut: '/Hours',
      text: 'Dear {{ customer_name }}, we are open from 9 to 5.\r\n{{member_name}}, {{workspace_name}}',
    });
    expect(page.path).toBe(`${PATH}?notice=saved`);
    expect(page.text).toContain('Opening hours /hours');
    const { html } = await threadOf({ name: 'Zoë <b>' });
    expect(html).toContain('Dear Zoë &lt;b>, we are open from 9 to 5.\nana, ');
  });

  it('leave a placeholder as it is when its value is unknown, unless it has a default', async () => {
    await ana.post(PATH, {
      name: 'Greeting',
      shortcut: 'hi',
      text: 'Hello {{customer_first_name|there}}: {{customer_email}} {{customer_name|Sir|Madam}}',
    });
    expect((await threadOf({})).text).toContain('Hello there: {{customer_email}} Sir|Madam');
    const known = await threadOf({ name: 'Maria del Mar', email: 'mar@example.com' });
    expect(known.text).toContain('Hello Maria: mar@example.com');
  });

  it('are changed and removed', async () => {
    const fields = { name: 'Refund', shortcut: 'refund', text: 'It takes a week.' };
    await ana.post(PATH, fields);
    const own = `${PATH}/${await idOf('refund')}`;
    expect((await ana.get(own)).html).toContain('It takes a week.');
    const changed = await ana.post(own, { ...fields, text: 'It takes a day.' });
    expect(changed.text).toContain('It takes a day.');
    expect((await ana.post(`${own}/remove`)).text).not.toContain('Refund');
    expect((await ana.get(own)).status).toBe(404);
  });

  it('are refused with what was typed: a shortcut that is taken or odd, an unknown placeholder', async () => {
    const fields = { name: 'First', shortcut: 'first', text: 'One.' };
    await ana.post(PATH, fields);
    const taken = await ana.post(PATH, { ...fields, name: 'Second' });
    expect(taken.status).toBe(400);
    expect(taken.problem('shortcut')).toBe('“First” has this shortcut. Choose another one.');
    expect(taken.value('name')).toBe('Second');
    const odd = await ana.post(PATH, { ...fields, shortcut: 'two words' });
    expect(odd.problem('shortcut')).toContain('digits and hyphens, and not begin with a hyphen');
    const unknown = await ana.post(PATH, { ...fields, shortcut: 'x', text: 'Dear {{nick}}' });
    expect(unknown.problem('text')).toContain('{{nick}} cannot be filled in.');
    expect(
      (await ana.post(`${PATH}/${await idOf('hours')}`, { ...fields, name: 'Third' })).status,
    ).toBe(400);
  });
});

describe('a note of a member', () => {
  it('appears in the thread, even of a closed conversation, and never reaches the customer', async () => {
    const service = await startTestService({ env: MEMBER_ENV });
    try {
      const ana = await signedInBrowser(service.url);
      const customer = await chatCustomer(service.url, { name: 'Noor' });
      const { conversation_id: id } = await customer.write('Hello');
      const path = `/conversations/${id}`;
      await ana.get(path);
      const noted = await ana.post(`${path}/note`, { note: 'She rang yesterday.' });
      expect(noted.path).toBe(path);
      expect(noted.text).toContain('ana note for the team She rang yesterday.');
      await service.api.post(`/api${path}/close`, { summary: 'Done.', verdict: 'unknown' });
      expect((await ana.post(`${path}/note`, { note: 'Paid.' })).text).toContain('Paid.');
      const empty = await ana.post(`${path}/note`, { note: ' ' });
      expect([empty.status, empty.problem('note')]).toEqual([400, 'Must not be empty.']);
      expect(empty.html).toMatch(/value="note" checked/);
      expect((await customer.read()).map(({ text }) => text)).toEqual(['Hello']);
      expect((await service.api.get(`/api${path}`)).body.message_count).toBe(1);
    } finally {
      await service.stop();
    }
  });
});
