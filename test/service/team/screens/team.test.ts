// Who may come in, and who may not any more.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  browserless,
  MEMBER,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

describe('the team', () => {
  let service: TestService;
  let ana: Browserless;
  let members = 0;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    ana = await signedInBrowser(service.url);
  });
  afterAll(() => service?.stop());

  const invite = async (by: Browserless) => {
    await by.get('/team');
    const { html } = await by.post('/team/invites', { note: 'Somebody' });
    return /join\?token=([\w-]+)/.exec(html)![1]!;
  };
  const join = async (token: string) => {
    const fields = {
      token,
      name: `Bob ${++members}`,
      email: `bob${members}@example.com`,
      password: 'another long password',
    };
    const browser = browserless(service.url);
    return { browser, fields, page: await browser.post('/join', fields) };
  };
  const idOf = async (name: string) =>
    new RegExp(`/team/members/(mbr_\\w+)/remove"[^>]*>(?:(?!</form>).)*Remove ${name}`, 's').exec(
      (await ana.get('/team')).html,
    )![1]!;

  it('forgets a member’s mistakes once they sign in', async () => {
    const signIn = (password: string) =>
      browserless(service.url).post('/sign-in', { ...MEMBER, password });
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 6; n++) expect((await signIn('wrong')).status).toBe(401);
      expect((await signIn(MEMBER.password)).path).toBe('/overview');
    }
  });

  it('an invitation works once', async () => {
    const token = await invite(ana);
    const { page, browser } = await join(token);
    expect(page.path).toBe('/conversations');
    expect((await browser.get('/team')).text).toContain('Bob');
    expect((await join(token)).page.status).toBe(404);
  });

  it('a member who is removed is signed out at once, and their invitations end', async () => {
    const { browser, fields } = await join(await invite(ana));
    const backdoor = await invite(browser);
    const id = await idOf(fields.name);
    await ana.post(`/team/members/${id}/remove`);
    expect((await browser.get('/team')).path).toMatch(/^\/sign-in/);
    expect((await join(backdoor)).page.status).toBe(404);
    expect((await ana.get('/team')).text).not.toContain(fields.name);
  });

  it('has a hundred open invitations at most, so that all of them end with their maker', async () => {
    const { browser, fields } = await join(await invite(ana));
    const tokens: string[] = [];
    let page = await browser.get('/team');
    for (const most = 200; page.status < 400 && tokens.length < most; ) {
      page = await browser.post('/team/invites', { note: 'Somebody' });
      tokens.push(...[...page.html.matchAll(/join\?token=([\w-]+)/g)].map(([, token]) => token!));
    }
    expect(page.status).toBe(400);
    expect(page.problem('note')).toContain('at most 100 open');
    expect(page.html).toContain('value="Somebody"');
    await ana.post(`/team/members/${await idOf(fields.name)}/remove`);
    expect((await join(tokens.at(-1)!)).page.status).toBe(404);
  });

  it('changes a password, signs the other browsers out, and does not let the current password be guessed', async () => {
    const { browser, fields } = await join(await invite(ana));
    const elsewhere = await signedInBrowser(service.url, fields);
    await browser.get('/account');
    const change = (current: string, next = 'a new long password') =>
      browser.post('/account/password', { current, next });
    for (let n = 0; n < 4; n++)
      expect((await change('wrong')).problem('current')).toBe('The current password is wrong.');
    expect((await change(fields.password)).path).toBe('/account?notice=password-changed');
    for (let n = 0; n < 5; n++) await change('wrong');
    const right = await change('a new long password', 'yet another one');
    expect(right.problem('current')).toContain('Too many');
    expect((await elsewhere.get('/team')).path).toMatch(/^\/sign-in/);
  });
});

describe('a service whose environment names a workspace and a key, but no member', () => {
  it('is set up by the link', async () => {
    const service = await startTestService();
    try {
      const browser = browserless(service.url);
      const { pathname, search, searchParams } = new URL(service.setupUrl!);
      expect((await browser.get(pathname + search)).text).toContain('joining the workspace Test');
      const token = searchParams.get('token')!;
      const { status } = await browser.post('/setup', { ...MEMBER, token, name: 'Ana' });
      expect(status).toBe(201);
      expect((await service.api.get('/api/members')).body.data).toMatchObject([{ name: 'Ana' }]);
      await service.restart();
      expect(service.setupUrl).toBeNull();
    } finally {
      await service.stop();
    }
  });
});
