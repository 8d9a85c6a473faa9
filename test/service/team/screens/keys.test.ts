import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import {
  permissionsInWords,
  READ_ONLY,
} from '../../../../service/src/deliveries/screens/keys/keyWords.ts';
import type { AreaPermission } from '../../../../service/src/team/index.ts';
import { apiClient, type ApiClient } from '../../../helpers/apiClient.ts';
import {
  signedInBrowser,
  MEMBER_ENV,
  type Browserless,
  type Page,
} from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

/** A name with markup, and with a character that reverses the direction of the text. */
const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'\u202Egnp.exe';

describe('the Keys and subscriptions screen: keys', () => {
  let service: TestService;
  let browser: Browserless;
  let stranger: ApiClient;
  /** The ids of the other workspace's keys; there is one. */
  let theirKeys: string[];
  let logged = '';

  beforeAll(async () => {
    service = await startTestService({
      env: MEMBER_ENV,
      log: pino({ level: 'trace' }, { write: (line) => void (logged += line) }),
    });
    stranger = await service.addWorkspace('Another');
    browser = await signedInBrowser(service.url);
    const ours = (await browser.get('/keys')).html;
    theirKeys = (await storedIds('key')).filter((id) => !ours.includes(id));
  });
  afterAll(() => service?.stop());

  const create = async (name: string) => {
    const page = await browser.post('/keys', { name });
    return { page, key: /cs_live_[0-9A-Za-z]{32}/.exec(page.html)?.[0] ?? '' };
  };
  const idOf = (page: Page, lastFour: string) => {
    const item = page.html.split('<li>').find((each) => each.includes(`cs_live_…${lastFour}`));
    return /key_[0-9A-Z]{26}/.exec(item ?? '')?.[0] ?? '';
  };

  /** The stored ids with this prefix, in all workspaces. */
  const storedIds = async (prefix: string) => [
    ...new Set((await service.stored()).match(new RegExp(`${prefix}_[0-9A-Z]{26}`, 'g'))),
  ];

  it('lists name, prefix and last four, who made it and when it was last used', async () => {
    const page = await browser.get('/keys');
    expect(page.status).toBe(200);
    expect(page.text).toMatch(
      /Default key cs_live_…TTTT Created now by environment , (never used|last used now)/,
    );
    expect(page.html).not.toContain(service.apiKey);
  });

  it('makes no more than 100 keys, and says that one must be revoked first', async () => {
    const limited = await startTestService({ env: MEMBER_ENV });
    try {
      const member = await signedInBrowser(limited.url);
      await member.get('/keys');
      const make = () => member.post('/keys', { name: 'one more' });
      for (let count = 1; count < 100; count++) expect((await make()).status).toBe(201);
      const refused = await make();
      expect([refused.status, refused.problem('name')]).toEqual([
        400,
        'A workspace has at most 100 API keys. Revoke one that is no longer used.',
      ]);
      const id = /\/keys\/(key_[0-9A-Z]{26})\/revoke/.exec(refused.html)![1]!;
      await member.post(`/keys/${id}/revoke`);
      expect((await make()).status).toBe(201);
      expect((await make()).status).toBe(400);
    } finally {
      await limited.stop();
    }
  });

  it('shows a new key once, says where it goes in n8n, and never again on any page', async () => {
    const { page, key } = await create('n8n production');
    expect(page).toMatchObject({ status: 201, path: '/keys' });
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.html).toMatch(
      new RegExp(`<code id="once">${key}</code>\\s*<button[^>]* data-copy="#once"`),
    );
    expect(page.text).toContain(
      'Open Credentials and create a Conversation Service API credential.',
    );
    expect((await apiClient(service.url, key).get('/api/hooks')).status).toBe(200);
    const pages = ['/keys', '/keys/live/api-keys', '/keys?notice=key-revoked', '/account', '/team'];
    for (const path of pages) expect((await browser.get(path)).html).not.toContain(key);
    expect(logged).toContain('"/keys"');
    expect(logged).not.toContain(key);
    const used = new RegExp(
      `n8n production cs_live_…${key.slice(-4)} Created now by ana , last used now`,
    );
    await waitFor('the use of the key to be recorded', async () =>
      used.test((await browser.get('/keys')).text),
    );
  });

  it('creates one key when a form is sent twice, and says that it is shown only once', async () => {
    const form = (await browser.get('/keys')).value('form')!;
    expect(form).toMatch(/^[\w-]{24}$/);
    const values = { form, name: 'sent twice' };
    const first = await browser.post('/keys', values);
    expect(first.status).toBe(201);
    const key = /cs_live_[0-9A-Za-z]{32}/.exec(first.html)![0];
    const [second, third] = await Promise.all([
      browser.post('/keys', values),
      browser.post('/keys', values),
    ]);
    for (const page of [second, third]) {
      expect(page.path).toMatch(/^\/keys\/key_[0-9A-Z]{26}\?notice=key-made-before$/);
      expect(page.text).toContain('This form created this key before.');
      expect(page.text).toContain(`cs_live_…${key.slice(-4)}`);
      expect(page.html).not.toContain(key);
    }
    expect((await browser.get('/keys')).text.match(/sent twice cs_live_/g)).toHaveLength(1);
    const other = await browser.post('/keys', { ...values, name: 'sent twice, but changed' });
    expect(other.status).toBe(201);
    expect((await service.stored()).includes(key)).toBe(false);
  });

  it('limits a key to chosen parts, and shows what it may do', async () => {
    const limited = { name: 'limited', access: 'chosen', area_tools: 'write', area_waits: 'read' };
    const { html, text } = await browser.post('/keys', limited);
    const key = /<code id="once">(cs_live_\w{32})</.exec(html)![1]!;
    expect(text).toContain('Tools and approvals, Waits (only reading), never expires');
    const api = apiClient(service.url, key);
    expect((await api.get('/api/tools')).status).toBe(200);
    expect((await api.get('/api/hooks')).status).toBe(403);
    const reads = await browser.post('/keys', { name: 'reads', access: 'read' });
    expect(reads.text).toContain('All of the API, only reading, never expires');
    for (const [limitedTo, words] of [
      [['tools:read', 'tools:write'], 'Tools and approvals'],
      [Array<AreaPermission>(READ_ONLY.length).fill('waits:read'), 'Waits (only reading)'],
    ] as const)
      expect(permissionsInWords({ limitedTo })).toBe(words);
    const contradictions: Record<string, string>[] = [
      { name: 'none', access: 'chosen' },
      { name: 'both', access: 'all', area_tools: 'read' },
    ];
    for (const values of contradictions) {
      const page = await browser.post('/keys', values);
      expect([page.status, page.problem('access')]).toEqual([
        400,
        expect.stringMatching(/^Choose /),
      ]);
    }
  });

  it('sets the day on which a key expires, renames it, and refuses a day that has passed or is too late to write', async () => {
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const { page, key } = await create('brief');
    const id = idOf(page, key.slice(-4));
    for (const expires_on of ['', '2020-01-01', 'tomorrow', HOSTILE]) {
      const changes = { name: 'brief', expires: 'date', expires_on };
      const refused = await browser.post(`/keys/${id}/edit`, changes);
      expect([refused.status, refused.problem('expires_on')]).toEqual([
        400,
        'Enter today or a later day.',
      ]);
    }
    for (const path of ['/keys', `/keys/${id}/edit`]) {
      const changes = { name: 'brief', expires: 'date', expires_on: '9999-12-31' };
      const refused = await browser.post(path, changes);
      expect([refused.status, refused.problem('expires_on')]).toEqual([
        400,
        'Enter a day before the year 9999.',
      ]);
    }
    for (const [path, expires] of [
      ['/keys', 'never'],
      [`/keys/${id}/edit`, 'keep'],
    ] as const) {
      const refused = await browser.post(path, { name: 'brief', expires, expires_on: day });
      expect([refused.status, refused.problem('expires')]).toEqual([
        400,
        'Choose “After a date”, or leave the last day empty.',
      ]);
    }
    const changes = { name: 'brief, renamed', expires: 'date', expires_on: day };
    const after = await browser.post(`/keys/${id}/edit`, changes);
    expect(after.path).toBe(`/keys/${id}?notice=saved`);
    expect(after.text).toContain('Expires in 3 days');
    const list = (await browser.get('/keys')).text;
    expect(list).toMatch(/brief, renamed cs_live_…\w{4} Expires soon/);
    const kept = await browser.post(`/keys/${id}/edit`, { name: 'brief', expires: 'never' });
    expect(kept.text).toContain('Expires never');
    await browser.post(`/keys/${id}/revoke`);
    expect((await browser.post(`/keys/${id}/edit`, changes)).status).toBe(404);
    expect((await browser.get(`/keys/${id}/edit`)).path).toBe(`/keys/${id}`);
  });

  it('revokes a key at once, asks first, and lists it apart', async () => {
    const { key } = await create('to be revoked');
    const page = await browser.get('/keys');
    const id = idOf(page, key.slice(-4));
    expect(page.html).toMatch(
      new RegExp(`action="/keys/${id}/revoke" data-confirm="Revoke the key “to be revoked”`),
    );
    const after = await browser.post(`/keys/${id}/revoke`);
    expect(after).toMatchObject({ status: 200, path: '/keys?notice=key-revoked' });
    expect(after.text).toContain('API key revoked.');
    expect((await apiClient(service.url, key).get('/api/hooks')).status).toBe(401);
    expect(after.text).toMatch(/Revoked keys \(2\) brief .* to be revoked/);
    expect(after.html).not.toContain(`/keys/${id}/revoke`);
  });

  it('says beside the field what is wrong with a name, and leaves the name in it', async () => {
    for (const [name, problem] of [
      ['', 'Must not be empty.'],
      ['   ', 'Must not be empty.'],
      ['x'.repeat(101), 'Must have at most 100 characters.'],
      ['x'.repeat(10_000), 'Must have at most 100 characters.'],
    ] as const) {
      const page = await browser.post('/keys', { name });
      expect(page.status).toBe(400);
      expect(page.problem('name')).toBe(problem);
      expect(page.value('name') ?? '').toBe(name);
      expect(page.html).not.toMatch(/data-shown-once/);
    }
  });

  it('shows a hostile name as text', async () => {
    await create(HOSTILE);
    const { html, text } = await browser.get('/keys');
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('<img src=x');
    expect(text).toContain(HOSTILE);
  });

  it("answers 404 for another workspace's keys and subscriptions, and for ids that do not exist", async () => {
    expect(theirKeys).toHaveLength(1);
    for (const id of [...theirKeys, 'key_00000000000000000000000000', 'nonsense'])
      for (const status of [
        (await browser.post(`/keys/${id}/revoke`)).status,
        (await browser.post(`/keys/${id}/edit`, { name: 'mine' })).status,
        (await browser.get(`/keys/${id}`)).status,
      ])
        expect(status).toBe(404);
    const { body } = await stranger.post('/api/hooks', {
      event: 'message.sent',
      target_url: 'https://127.0.0.1:9/theirs',
      source: 'theirs',
    });
    expect((await browser.get('/keys')).html).not.toContain('theirs');
    const path = `/keys/subscriptions/${body.id}`;
    expect((await browser.get(path)).status).toBe(404);
    for (const action of [
      'test',
      'recover',
      'rotate-secret',
      'pause',
      'resume',
      'release',
      'remove',
      'deliveries/dlv_00000000000000000000000000/redeliver',
    ]) {
      const page = await browser.post(`${path}/${action}`, { since: '2026-01-01T00:00' });
      expect([action, page.status]).toEqual([action, 404]);
      expect(page.html).not.toMatch(/theirs|whsec_/);
    }
    for (const part of ['state', 'deliveries'])
      expect((await browser.get(`${path}/live/${part}`)).text).toBe(
        'This subscription was removed. Back to keys and subscriptions',
      );
    expect((await stranger.get('/api/hooks')).body.data).toHaveLength(1);
  });

  it('redirects to the screen when the address of a form is opened as a page', async () => {
    for (const path of ['/keys/subscriptions', '/keys/key_00000000000000000000000000/revoke'])
      expect((await browser.get(path)).path).toBe('/keys');
  });
});
