import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { apiClient, chatCustomer } from '../helpers/apiClient.ts';
import { agentSays, ask, body, callIn, makeLive } from '../helpers/toolEndpoint.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { BrowserWindow } from './browser.ts';
import { startConversation } from './customers.ts';
import { team, useTeam } from './team.ts';

const MARKUP =
  '<script>window.__pwned = 1; alert(1)</script><img src=x onerror="window.__pwned = 1"><svg onload=alert(1)>';
const BREAKER = `"><b onmouseover='window.__pwned = 1'>' autofocus onfocus=alert(1) x="</textarea></title></style><script>window.__pwned = 1</script>`;
const ATTRIBUTES =
  '" hx-get="/account" hx-trigger="load" hx-on::load="window.__pwned = 1" {{constructor}} ${7*7} &lt;b&gt;';
const BIDIRECTIONAL = '\u202egnp.exe \u2066تجربة\u2069 👩‍👩‍👧‍👦🏳️‍🌈 Z͑ͫ̓a̴l̵g̶o̷';
const LONG_WORD = 'W'.repeat(10_000);
const SHORT = `${MARKUP.slice(0, 60)}"'>`;
const ALL = [MARKUP, BREAKER, ATTRIBUTES, BIDIRECTIONAL].join('\n');

describe('hostile texts', () => {
  useTeam({ env: { BOOTSTRAP_WORKSPACE: SHORT } });
  let url: string;
  /** The paths of the pages that show hostile texts, by what they show. */
  const pages: Record<string, string> = {};

  beforeAll(async () => {
    url = team.service.url;
    await fill();
  });

  /** Fills in every text that a customer, a tool, a receiver or a holder of an API key can write. */
  async function fill() {
    const {
      service: { api },
      endpoint,
    } = team;
    await api.patch('/api/agent', { name: SHORT, greeting: ALL.slice(0, 1000), instructions: ALL });
    const parameters = {
      type: 'object',
      properties: {
        order: { type: 'string', title: MARKUP, description: BREAKER },
        more: { type: 'string', description: 'W'.repeat(2000), enum: [MARKUP, BREAKER, LONG_WORD] },
      },
    };
    const asking = await endpoint.define(api, {
      name: 'cancel_order',
      description: ALL,
      parameters,
      ask_before_running: true,
    });
    const plain = await endpoint.define(
      api,
      {
        name: `a${'w'.repeat(63)}`,
        description: 'W'.repeat(1024),
        parameters: { type: 'object', properties: {} },
      },
      '/plain',
    );
    const hostileResult = {
      [MARKUP]: BREAKER,
      message: ALL,
      nested: { [BREAKER]: [MARKUP, { [ATTRIBUTES]: BIDIRECTIONAL }], long: LONG_WORD },
      ['W'.repeat(300)]: 1,
    };
    endpoint.answerAlways('/cancel_order', { json: hostileResult });
    endpoint.answerAlways('/plain', { json: hostileResult });
    await makeLive(api, asking, { order: MARKUP });
    await makeLive(api, plain);
    const http = await api.post('/api/tools', {
      name: 'http_tool',
      description: BREAKER,
      kind: 'HTTP',
      parameters: { type: 'object', properties: { x: { type: 'string' } } },
      request_template: {
        method: 'POST',
        url: `${endpoint.url}/h?q={{args.x}}&${'w'.repeat(1000)}`,
        headers: { 'x-h': '</textarea><script>window.__pwned=1</script>' },
        body: { [MARKUP]: BREAKER, x: '{{args.x}}' },
        response_fields: [],
      },
    });
    expect(http).toMatchObject({ status: 201 });
    endpoint.answerAlways('/h', body(ALL + LONG_WORD, { 'content-type': 'text/html' }, 500));
    await api.post(`/api/tools/${http.body.id}/test`, { arguments: { x: `${MARKUP}../..` } });

    const customer = await chatCustomer(url, {
      name: `${BREAKER}${'W'.repeat(200 - BREAKER.length)}`,
      email: `${'w'.repeat(60)}@example.com`,
    });
    const { conversation_id: id } = await customer.write(ALL);
    await customer.write(LONG_WORD.slice(0, 4096));
    await api.post(`/api/conversations/${id}/messages`, { text: ALL });
    const { conversationId: asked } = await ask(url, asking, '20481', { name: MARKUP });
    await callIn(api, `conversation_id=${asked}`, 'pending_approval');
    const done = await ask(url, asking, '20482', { name: BIDIRECTIONAL });
    const call = await callIn(api, `conversation_id=${done.conversationId}`, 'pending_approval');
    await agentSays(done.customer);
    await api.post(`/api/tool-calls/${call.tool_call_id}/approve`, { note: ALL });
    await callIn(api, `conversation_id=${done.conversationId}`, 'succeeded');
    const closed = await startConversation('W'.repeat(200), BREAKER);
    await api.post(`/api/conversations/${closed.id}/close`, {
      summary: `${ALL}\n${LONG_WORD.slice(0, 3000)}`,
      verdict: 'unknown',
    });

    endpoint.answerAlways(
      '/events',
      body(`${ALL}${LONG_WORD}`, { 'content-type': 'text/html' }, 500),
    );
    const { body: failing } = await api.post('/api/hooks', {
      event: 'message.received',
      target_url: `${endpoint.url}/events?${'w'.repeat(1000)}=%3Cscript%3E'onmouseover=alert(1)`,
      source: SHORT,
    });
    await api.post(`/api/hooks/${failing.id}/test`, {});
    await waitFor(
      'a failed delivery',
      async () =>
        (await api.get(`/api/hooks/${failing.id}/deliveries`)).body.data[0]?.status === 'failed',
    );
    Object.assign(pages, {
      list: '/conversations',
      search: `/conversations?q=${encodeURIComponent(BREAKER)}`,
      conversation: `/conversations/${id}`,
      approval: `/conversations/${asked}`,
      decided: `/conversations/${done.conversationId}`,
      closed: closed.path,
      tools: '/tools',
      tool: `/tools/${asking.id}`,
      plain: `/tools/${plain.id}`,
      'HTTP tool': `/tools/${http.body.id}`,
      edit: `/tools/${asking.id}/edit`,
      'edit HTTP': `/tools/${http.body.id}/edit`,
      agent: '/agent',
      keys: '/keys',
      subscription: `/keys/subscriptions/${failing.id}`,
      team: '/team',
      account: '/account',
    });
  }

  /** A window that accepts every dialog and keeps its message. */
  async function watched(options?: {
    width: number;
  }): Promise<{ window: BrowserWindow; page: Page; dialogs: string[] }> {
    const window = await team.openSignedIn('/account', options);
    const dialogs: string[] = [];
    window.page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.accept();
    });
    return { window, page: window.page, dialogs };
  }

  const openAll = (page: Page) =>
    page.evaluate(() => document.querySelectorAll('details').forEach((each) => (each.open = true)));
  /** Runs in the page: its text, and the values of its fields. */
  const textsAndValues = () =>
    [
      document.body.textContent,
      ...[...document.querySelectorAll<HTMLInputElement>('input, textarea')].map(
        ({ value }) => value,
      ),
    ].join('\n');
  /** Elements and attributes that only a hostile text could have made. */
  const countMadeByTexts = (page: Page) =>
    page.evaluate(
      () =>
        document.querySelectorAll(
          'script:not([src]), img:not([src^="/assets/"]), svg:not(.icon, .mark, .spark-line, .drawing, .legend svg), style, [onerror], [onload], [onmouseover], [onfocus], [hx-on\\:\\:load]',
        ).length,
    );

  /** No script of a text has run, no text has become an element, and none overflows. */
  async function expectHarmless({ page, overflow }: BrowserWindow, name: string) {
    expect([
      name,
      await page.evaluate('window.__pwned'),
      await countMadeByTexts(page),
      await overflow(),
    ]).toEqual([name, undefined, 0, []]);
  }

  it('are shown on every screen as they were written, as text that does not overflow', async () => {
    const { page, dialogs, window } = await watched();
    const shownOn: Record<string, string[]> = {
      conversation: [ALL, LONG_WORD.slice(0, 4096), BREAKER],
      approval: [MARKUP],
      decided: [ALL, BREAKER, MARKUP, BIDIRECTIONAL],
      closed: [BREAKER, ALL],
      tool: [ALL],
      edit: [ALL, MARKUP],
      'edit HTTP': ['</textarea><script>'],
      agent: [ALL, SHORT],
      subscription: [MARKUP, BREAKER],
      keys: [SHORT],
      search: [BREAKER],
    };
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(url + path);
      await openAll(page);
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await expectHarmless(window, `${name} at ${width} px`);
      }
      const shown = await page.evaluate(textsAndValues);
      for (const text of shownOn[name] ?? []) expect(shown).toContain(text);
    }
    expect(Object.keys(pages)).toEqual(expect.arrayContaining(Object.keys(shownOn)));
    expect(dialogs).toEqual([]);
    expect(window.problems).toEqual([]);
  });

  it('are shown as text when they arrive live', async () => {
    const { page, dialogs, window } = await watched({ width: 360 });
    const { customer, path } = await startConversation(BREAKER, 'first');
    await page.goto(url + path);
    await page.getByRole('article').getByText('first').waitFor();
    for (const text of [MARKUP, BREAKER, ATTRIBUTES, BIDIRECTIONAL, LONG_WORD.slice(0, 4096)]) {
      await customer.write(text);
      await page.getByRole('article').getByText(text, { exact: true }).first().waitFor();
    }
    await expectHarmless(window, 'live');
    expect(dialogs).toEqual([]);
  });

  it('of a member are shown as text, and a refused form keeps them as they were written', async () => {
    const { page, dialogs, window } = await watched({ width: 360 });
    window.allowErrors(/400|409|422/);
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    await page.goto(url + pages.approval!);
    await page.getByLabel('Reason, for your team and the agent').fill(BREAKER);
    await button('Reject Cancel order').click();
    await page.getByText(`Reason: ${BREAKER}`).waitFor();
    await page.getByLabel('Your reply').fill(ALL);
    await button('Send').click();
    await page.getByRole('article').getByText(BREAKER).first().waitFor();
    await expectHarmless(window, 'reply');

    await page.goto(`${url}/keys`);
    await page.getByText('Create an API key').click();
    await page.getByLabel('Name').first().fill(BREAKER.slice(0, 100));
    await button('Create key').click();
    await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
    await expectHarmless(window, 'key');
    // The question before revoking quotes the name.
    await button(/^Revoke the key ">/).click();
    await page.getByText('API key revoked.').waitFor();
    expect(dialogs.splice(0)).toEqual([expect.stringContaining(BREAKER.slice(0, 100))]);
    await page.getByText('Create a subscription').click();
    await page.getByLabel('Endpoint URL').fill(`https://x.invalid/${BREAKER.replace(/\s/g, '')}`);
    await page.getByLabel('Source').fill(BREAKER.slice(0, 64));
    await button('Create subscription').click();
    await page.getByText('The subscription was not created.').waitFor();
    expect(await page.getByLabel('Source').inputValue()).toBe(BREAKER.slice(0, 64));
    await expectHarmless(window, 'refused subscription');

    await page.goto(`${url}/team`);
    await page.getByLabel('Who is it for?').fill(MARKUP.slice(0, 100));
    await button('Create invitation link').click();
    await page.getByText(`${MARKUP.slice(0, 100)}, invited by`).waitFor();
    await expectHarmless(window, 'invitation');

    await page.goto(`${url}/tools/new`);
    await page.getByLabel('Name', { exact: true }).first().fill(BREAKER.slice(0, 64));
    await page.getByLabel('Description').first().fill(ALL);
    await page.getByRole('group', { name: 'Parameter 1' }).getByLabel('Description').fill(BREAKER);
    await button('Create tool').click();
    await page.getByText('Correct the marked fields.').waitFor();
    expect(await page.getByLabel('Description').first().inputValue()).toBe(ALL);
    await expectHarmless(window, 'refused tool');
    await page.goto(`${url}/agent`);
    await page.getByLabel('Customer message').fill(ALL);
    await button('Try it').click();
    await page.getByRole('heading', { name: /^It would/ }).waitFor();
    await expectHarmless(window, 'tried');
    expect(dialogs).toEqual([]);
  });

  it('are plain text in the customer’s chat, no matter who wrote them', async () => {
    const window = await team.open({ width: 360 });
    const { page } = window;
    await page.goto(`${url}/chat`);
    await page.getByRole('heading', { level: 1 }).getByText(SHORT).waitFor();
    await page.getByLabel('Your message').fill(BREAKER);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article').getByText(MARKUP).first().waitFor();
    await expectHarmless(window, 'chat');
  });

  it('with NUL are refused, and the page says so', async () => {
    const api = apiClient(url, null);
    expect((await api.post('/api/chat/sessions', { name: 'a\0b' })).status).toBe(400);
    const { window, page } = await watched();
    window.allowErrors(/400/);
    await page.goto(`${url}/keys`);
    await page.getByText('Create an API key').click();
    await page
      .getByLabel('Name')
      .first()
      .evaluate((field: HTMLInputElement) => (field.value = 'a\0b'));
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Must be well-formed Unicode without NUL.').waitFor();
    await expectHarmless(window, 'NUL');
  });

  it('in an address do no harm', async () => {
    const { window, page } = await watched();
    window.allowErrors(/400|404/);
    for (const path of [
      '/conversations?q=%00%3Cscript%3E',
      '/conversations/%00',
      '/tools/%3Cscript%3E',
      '/keys?notice=%3Cscript%3E',
      '/sign-in?next=%22%3E%3Cscript%3E',
      '/join?token=%22%3E%3Cscript%3E',
      '/setup?token=%3Cscript%3E',
      '/chat?workspace=%3Cscript%3E',
    ]) {
      await page.goto(url + path);
      await expectHarmless(window, path);
    }
  });
});
