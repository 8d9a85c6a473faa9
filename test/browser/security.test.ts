import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { MEMBER } from '../helpers/browserless.ts';
import { listenTracked, type TrackedServer } from '../helpers/trackedServer.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { startConversation } from './customers.ts';
import { BEN, fillSignIn, join, signIn, team, useTeam } from './team.ts';

const PAGES = [
  '/conversations',
  '/tools',
  '/tools/new',
  '/agent',
  '/keys',
  '/examples',
  '/team',
  '/settings',
  '/account',
];

describe('the screens in a browser', () => {
  useTeam();
  let url: string;
  let stranger: TrackedServer;
  /** The content of the stranger's page. */
  let trap = '';

  beforeAll(async () => {
    url = team.service.url;
    const server = createServer((_request, response) =>
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(`<!doctype html><title>Trap</title><link rel="icon" href="data:,">${trap}`),
    );
    stranger = await listenTracked(server, 0, '127.0.0.1');
  });
  afterAll(() => stranger?.close());

  const countKeys = async (page: Page) => {
    await page.goto(`${url}/keys`);
    return page.getByRole('button', { name: /^Revoke the key/ }).count();
  };

  it('send every page with a policy that allows nothing inline and nothing from elsewhere', async () => {
    const { page } = await team.openSignedIn();
    const { page: signedOut } = await team.open();
    for (const path of [...PAGES, '/sign-in', '/chat']) {
      const reader = path === '/sign-in' ? signedOut : page;
      const answer = await reader.request.get(url + path, { maxRedirects: 0 });
      const policy = answer.headers()['content-security-policy']!.split('; ');
      expect([path, answer.status()]).toEqual([path, 200]);
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "form-action 'self'",
          "base-uri 'none'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|http/);
      expect(answer.headers()).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
  });

  it('run no injected script, style or eval', async () => {
    const window = await team.openSignedIn('/keys');
    window.allowErrors(/Content Security Policy/);
    const { page } = window;
    await page.evaluate(() => {
      const script = Object.assign(document.createElement('script'), {
        textContent: 'window.__pwned = "script"',
      });
      document.body.append(script);
      document.querySelector('h1')!.setAttribute('onclick', 'window.__pwned = "handler"');
      document
        .querySelector('h1')!
        .insertAdjacentHTML(
          'beforeend',
          '<img src="data:,x" onerror="window.__pwned = 1"><style>h1 { position: fixed }</style>',
        );
    });
    await page.getByRole('heading', { level: 1 }).click();
    const blocked = await page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener(
            'securitypolicyviolation',
            ({ blockedURI }) => blockedURI === 'eval' && resolve(blockedURI),
          );
          setTimeout('window.__pwned = "eval"'); // evaluates its text
        }),
    );
    expect(blocked).toBe('eval');
    expect(await page.evaluate('window.__pwned')).toBeUndefined();
    expect(
      await page
        .getByRole('heading', { level: 1 })
        .evaluate((heading) => getComputedStyle(heading).position),
    ).toBe('static');
    expect(window.problems).toEqual([]);
  });

  it('are shown in nobody’s frame', async () => {
    const window = await team.openSignedIn();
    window.allowErrors(/frame-ancestors|X-Frame-Options|ERR_BLOCKED_BY_RESPONSE|chrome-error/i);
    trap = PAGES.map((path) => `<iframe src="${url}${path}"></iframe>`).join('');
    await window.page.goto(`http://127.0.0.1:${stranger.port}/`);
    const [, ...frames] = window.page.frames();
    expect(frames).toHaveLength(PAGES.length);
    await waitFor('all to be refused', () =>
      frames.every((frame) => frame.url().startsWith('chrome-error:')),
    );
  });

  it('keep the session in a new cookie, which scripts and other sites do not get', async () => {
    const { context, page } = await team.open();
    // A cookie from before the sign-in must be worth nothing.
    await context.addCookies([{ name: 'cs_session', value: 'A'.repeat(43), url }]);
    await signIn(page, url);
    const [cookie, ...others] = await context.cookies();
    expect(others).toEqual([]);
    expect(cookie!.value).not.toBe('A'.repeat(43));
    expect(cookie).toMatchObject({
      name: 'cs_session',
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      domain: '127.0.0.1',
    });
    expect(await page.evaluate(() => document.cookie)).toBe('');
    // htmx stores the path that it came from.
    expect(
      await page.evaluate(() => [...Object.keys(localStorage), ...Object.values(sessionStorage)]),
    ).toEqual(['/conversations']);
  });

  it.each([
    ['another origin of the same site', 'http://127.0.0.1'],
    ['another site', 'http://localhost'],
  ])('refuse a form that %s posts', async (_, host) => {
    const window = await team.openSignedIn();
    window.allowErrors(/403|401|Cross-Origin|net::ERR/);
    const { page } = window;
    const before = await countKeys(page);
    const csrf = await page.locator('input[name=csrf]').first().inputValue();
    // The form is refused even though it knows the token.
    trap = `<form method="post" action="${url}/keys"><input name="name" value="Trap"><input name="csrf" value="${csrf}"><button>Win a prize</button></form>`;
    await page.goto(`${host}:${stranger.port}/`);
    await page.getByRole('button', { name: 'Win a prize' }).click();
    await page.getByRole('heading', { name: /Something went wrong|Sign in/ }).waitFor();
    expect(await countKeys(page)).toBe(before);
  });

  it('refuse a form of their own with an empty token', async () => {
    const window = await team.openSignedIn('/keys');
    window.allowErrors(/403/);
    const { page } = window;
    const before = await countKeys(page);
    await page.evaluate(() => {
      document.body.removeAttribute('hx-headers');
      document.body.removeAttribute('hx-boost');
      for (const field of document.querySelectorAll<HTMLInputElement>('input[name=csrf]'))
        field.value = '';
    });
    await page.getByText('Create an API key').click();
    await page.getByLabel('Name').first().fill('No');
    // Without htmx, which sends the token in a header too.
    await page
      .locator('form[action="/keys"]')
      .evaluate((form: HTMLFormElement) => HTMLFormElement.prototype.submit.call(form));
    await page.getByText('This form is out of date.').waitFor();
    expect(await countKeys(page)).toBe(before);
  });

  it('end the session at a sign-out, and every session at a sign-out everywhere', async () => {
    const [one, two, three] = [
      await team.openSignedIn('/account'),
      await team.openSignedIn('/keys'),
      await team.openSignedIn('/conversations'),
    ];
    for (const window of [one, two, three]) window.allowErrors(/401/);
    const [cookie] = await one.context.cookies();
    await one.page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await one.page.getByText('You are signed out.').waitFor();
    // A thief has kept the cookie.
    await one.context.addCookies([{ name: cookie!.name, value: cookie!.value, url }]);
    await one.page.goto(`${url}/keys`);
    await one.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await three.page.goto(`${url}/account`);
    await three.page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await three.page.getByText('You are signed out everywhere.').waitFor();
    await two.page.getByText('Create an API key').click();
    await two.page.getByLabel('Name').first().fill('Too late');
    await two.page.getByRole('button', { name: 'Create key' }).click();
    await two.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { page } = await team.openSignedIn('/keys');
    expect(await page.getByText('Too late').count()).toBe(0);
  });

  it('show a removed member nothing more, not even in live parts', async () => {
    const ana = await team.openSignedIn('/team');
    const ben = await team.open();
    ben.allowErrors(/401/);
    ana.page.on('dialog', (dialog) => void dialog.accept());
    await join(ana.page, ben.page, url);
    await ana.page.goto(`${url}/team`);
    await ana.page.getByRole('button', { name: 'Remove Ben' }).click();
    await ana.page.getByText('Removed.').waitFor();
    await startConversation('Secret Customer');
    // The message makes the list load again, which leads Ben to the sign-in.
    await ben.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await fillSignIn(ben.page, BEN);
    await ben.page.getByText('The email or password is wrong.').waitFor();
  });

  // test/service/team/screens/signIn.test.ts covers the other addresses.
  it.each(['/\\evil.example/', '/\t/evil.example'])(
    'lead to nobody else’s page after the sign-in, as a browser reads the address: %s',
    async (next) => {
      const { page } = await team.open();
      await page.goto(`${url}/sign-in?next=${encodeURIComponent(next)}`);
      const reached: string[] = [];
      page.on('request', (request) => reached.push(new URL(request.url()).origin));
      await fillSignIn(page, MEMBER);
      await page.waitForURL(({ pathname }) => pathname !== '/sign-in');
      expect(new URL(page.url()).origin).toBe(url);
      expect([...new Set(reached)]).toEqual([url]);
    },
  );
});
