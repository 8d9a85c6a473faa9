// What a row of the list, the filters, and the panel beside the thread say.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { MEMBER_ENV, type Browserless } from '../../../helpers/browserless.ts';
import { graphError, startGraphServer, type GraphServer } from '../../../helpers/graphServer.ts';
import {
  connectNumber,
  deliver,
  metaMessage,
  type ConnectedNumber,
} from '../../../helpers/meta.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';
import { agentSays, TOOL_TEST_ENV } from '../../../helpers/toolEndpoint.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { makeLink, setUpManual } from '../../payments/support.ts';

describe('the inbox', () => {
  let service: TestService;
  let graph: GraphServer;
  let number: ConnectedNumber;
  let ana: Browserless;
  let benId: string;

  beforeAll(async () => {
    graph = await startGraphServer();
    const env = { ...MEMBER_ENV, ...TOOL_TEST_ENV, GRAPH_API_URL: graph.url };
    service = await startTestService({ env });
    ({ ana, benId } = await teamOfTwo(service));
    number = await connectNumber(service.api, { accessToken: graph.accessToken });
    await service.api.patch('/api/agent', { enabled: true, greeting: 'Welcome to the shop!' });
  });
  afterAll(async () => {
    await service?.stop();
    await graph?.close();
  });

  const arrive = async (name: string, text = 'Hello') => {
    const chat = await chatCustomer(service.url, { name });
    const { conversation_id: id } = await chat.write(text);
    await agentSays(chat);
    return { chat, id, path: `/conversations/${id}` };
  };
  /** A customer who waits for a person. */
  const askForPerson = (name: string) => arrive(name, 'Can I talk to a person, please?');

  const onWhatsApp = async (phone: string, name: string, message: Record<string, unknown>) => {
    await deliver(service.url, number, metaMessage(message, { phone, name }));
    const { id } = await waitFor('their conversation', async () => {
      const { body } = await service.api.post('/api/contacts/lookup', { phone: `+${phone}` });
      return body.id ? body : undefined;
    });
    return `/conversations/${id}`;
  };

  const namesIn = async (query: string) =>
    [...(await ana.get(`/conversations?${query}`)).html.matchAll(/<bdi class="who">([^<]+)</g)].map(
      ([, name]) => name,
    );

  it('shows the customer’s last words where the agent spoke last', async () => {
    await arrive('Wanda Words', 'Where is the red scarf?');
    const { text } = await ana.get('/conversations?q=wanda');
    expect(text).toMatch(/Wanda Words 1 unread now Where is the red scarf\? /);
    expect(text).not.toContain('Welcome to the shop!');
  });

  it('lists what waits for a person longest first, also when the customer writes again', async () => {
    const first = await askForPerson('Wait first');
    await askForPerson('Wait second');
    await first.chat.write('Are you there?');
    for (const query of ['tab=waiting&q=wait', 'q=wait'])
      expect((await namesIn(query)).slice(0, 2)).toEqual(['Wait first', 'Wait second']);
  });

  it('counts what is in each tab and, for the navigation, who waits for an answer', async () => {
    const { path } = await askForPerson('Counted');
    const before = Number((await ana.get('/conversations/count')).text);
    await ana.get(path);
    await ana.post(`${path}/reply`, { text: 'Here I am.' });
    expect((await ana.get('/conversations/count')).text).toBe(before === 1 ? '' : `${before - 1}`);
    expect((await ana.get('/conversations')).text).toMatch(/Mine 1 Closed/);
  });

  it('filters by channel, stage, status and member, and keeps the filter in every link', async () => {
    const one = await arrive('Filter one');
    const two = await askForPerson('Filter two');
    await ana.get(one.path);
    await ana.post(`${one.path}/stage`, { stage: 'qualified' });
    await service.api.post(`/api/conversations/${two.id}/assign`, { member_id: benId });
    expect(await namesIn('q=filter&stage=qualified')).toEqual(['Filter one']);
    expect(await namesIn('q=filter&status=awaiting_human')).toContain('Filter two');
    expect(await namesIn(`q=filter&assignee=${benId}`)).toEqual(['Filter two']);
    expect(await namesIn('q=filter&channel=whatsapp_cloud')).toEqual([]);
    const { html, text } = await ana.get(
      '/conversations?q=filter&stage=qualified&channel=web_chat',
    );
    expect(html).toContain(`href="${one.path}?q=filter&amp;channel=web_chat&amp;stage=qualified"`);
    expect(text).toContain('Filter: Web chat, Qualified');
    const none = await ana.get('/conversations?tab=closed&stage=lost');
    expect(none.text).toContain('No conversations in “Closed” with this filter. Clear the filter');
  });

  it.each(['stage=x', 'channel[]=web_chat', 'status=open', 'assignee=<script>'])(
    'ignores a filter that no page offers: %s',
    async (query) => {
      const { status, html } = await ana.get(`/conversations?${query}`);
      expect(status).toBe(200);
      expect(html).toContain('<span>Filter</span>');
    },
  );

  it('says what a customer sent on WhatsApp other than text', async () => {
    const caption = 'This seam';
    const path = await onWhatsApp('447700900777', 'Pia Picture', {
      type: 'image',
      image: { caption },
    });
    const { text } = await ana.get(path);
    expect(text).toContain('Picture See it in WhatsApp. This seam');
    expect((await ana.get('/conversations?q=seam')).html).toContain(
      'Picture: This <mark>seam</mark>',
    );
    expect(text).not.toContain('[Picture]');
    await onWhatsApp('447700900778', 'Vera Voice', { type: 'audio', audio: { voice: true } });
    expect((await ana.get('/conversations?q=vera')).text).toContain('Voice message');
  });

  it('marks a conversation whose last message was not delivered, however much the customer writes after it', async () => {
    const write = (body: string) =>
      onWhatsApp('447700900779', 'Fay Failed', { type: 'text', text: { body } });
    const path = await write('Hi');
    await waitFor('the agent’s answer', async () =>
      (await ana.get(`${path}/items`)).text.includes('Sent to WhatsApp'),
    );
    graph.answerWith(graphError(400, { code: 131026, message: '(#131026) Undeliverable' }));
    await ana.get(path);
    await ana.post(`${path}/reply`, { text: 'Hello Fay' });
    const isMarked = async () =>
      (await ana.get('/conversations?q=fay')).text.includes('Not delivered');
    await waitFor('the mark', isMarked);
    for (let n = 1; n <= 7; n += 1) await write(`Are you there? ${n}`);
    expect((await ana.get(path)).text).toContain('Are you there? 7');
    expect(await isMarked()).toBe(true);
  });

  it('makes web addresses links that tell the other site nothing', async () => {
    const { path } = await arrive(
      'Lina Link',
      'See https://example.com/a?b=1&c=2. <b>Not bold</b>',
    );
    const { html } = await ana.get(path);
    expect(html).toContain(
      '<a href="https://example.com/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer nofollow">https://example.com/a?b=1&amp;c=2</a>. &lt;b>Not bold',
    );
  });

  it('says the day above its first message', async () => {
    const { path } = await arrive('Dora Day');
    expect((await ana.get(path)).html).toMatch(
      /<li class="day"><time datetime="\d{4}-\d\d-\d\d">[A-Z][a-z]+day,? \d+ [A-Z][a-z]+ \d{4} \(UTC\)</,
    );
  });

  it('shows the contact with other conversations, payments and notes, each a link to its place', async () => {
    const { id, path, chat } = await arrive('Paula Panel');
    await service.api.post(`/api/conversations/${id}/close`, {
      verdict: 'goal_reached',
      summary: 'x',
    });
    const { conversation_id: next } = await chat.write('I am back');
    await setUpManual(service);
    const wanted = { amount: 1250, currency: 'gbp', description: 'Delivery' };
    const payment = await makeLink(service, next, wanted);
    const { body: note } = await service.api.post(`/api/conversations/${next}/notes`, {
      text: 'Likes blue.',
    });
    const { text, html } = await ana.get(`/conversations/${next}/panel`);
    expect(text).toMatch(
      /^Name Paula Panel Channel Web chat .*Other conversations Started now Goal reached Payments £12\.50, Delivery open Notes Likes blue\. Default key \(API\) , now$/,
    );
    expect(html).toContain(`href="${path}"`);
    for (const item of [payment.id, note.id])
      expect(html).toContain(`href="/conversations/${next}#${item}"`);
  });
});
