// What all pages have in common: the frame, errors, and how they travel.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  browserless,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

let service: TestService;
let member: Browserless;
beforeAll(async () => {
  service = await startTestService({ env: MEMBER_ENV });
  member = await signedInBrowser(service.url);
});
afterAll(() => service?.stop());

const AS_A_BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const NAVIGATION = '<nav aria-label="Main">';

it.each(['/nowhere', '/conversations/conv_1/nowhere', '/favicon.ico'])(
  'shows a member a page with the navigation at %s, where there is nothing',
  async (path) => {
    const page = await member.get(path, AS_A_BROWSER);
    expect(page.status).toBe(404);
    expect(page.html).toContain(NAVIGATION);
    expect(page.text).toContain('There is no page at this address.');
  },
);

it('shows a stranger a page without the navigation', async () => {
  const page = await browserless(service.url).get('/nowhere', AS_A_BROWSER);
  expect(page.status).toBe(404);
  expect(page.html).not.toContain(NAVIGATION);
  expect(page.text).toContain('There is no page at this address.');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
});

it.each([
  ['/nowhere', 'application/json'],
  ['/nowhere', '*/*'],
  ['/api/nowhere', AS_A_BROWSER.accept],
])('answers %s with JSON for %s', async (path, accept) => {
  const answer = await fetch(service.url + path, { headers: { accept } });
  expect(answer.status).toBe(404);
  expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('not_found');
});

it('keeps the navigation where a conversation does not exist', async () => {
  const page = await member.get('/conversations/conv_1');
  expect(page.status).toBe(404);
  expect(page.html).toContain(NAVIGATION);
  expect(page.text).toContain('Back to Conversations');
});

it.each(['/conversations/%zz', '/pay/%zz'])(
  'says that the address is wrong where it cannot be decoded: %s',
  async (path) => {
    const page = await member.get(path);
    expect(page.status).toBe(400);
    expect(page.text).toContain('This address cannot be read. Check it for a typing error.');
  },
);

it('answers a request for a part of a page with the message alone', async () => {
  const page = await member.get('/conversations/conv_1/items', { 'hx-request': 'true' });
  expect(page.status).toBe(404);
  expect(page.html).toMatch(/^<p class="problem" role="alert">/);
});

it('compresses pages and their files, and no event stream', async () => {
  const encodingOf = async (path: string) => {
    const answer = await fetch(service.url + path, { headers: { cookie: member.cookie } });
    await answer.body?.cancel();
    return answer.headers.get('content-encoding');
  };
  const { html } = await member.get('/conversations');
  const assets = [...html.matchAll(/"(\/assets\/[^"]+\.(?:css|js)\?[^"]+)"/g)].map(
    ([, path]) => path!,
  );
  expect(assets.length).toBeGreaterThan(3);
  // app.js only imports the other modules: a few lines, which are sent as they are.
  for (const path of ['/conversations', ...assets.filter((each) => !each.includes('/app.js'))])
    expect([path, await encodingOf(path)]).not.toEqual([path, null]);
  expect(await encodingOf('/live')).toBeNull();
});
