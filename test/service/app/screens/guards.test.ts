// Who may see and change anything on the team's screens: each address that they answer.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  browserless,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import { listGetRoutes, listPostRoutes } from '../../../helpers/screenRoutes.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

/** What somebody who is not signed in may ask for. */
const OPEN = new Set([
  ...['/', '/sign-in', '/setup', '/join', '/reset-password'],
  ...['/assets/:name', '/chat', '/chat/embed.js', '/pay/:token'],
]);
/** Refused before anything is looked up, so the ids need not exist. */
const filledIn = (routes: readonly string[]) =>
  routes.filter((route) => !OPEN.has(route)).map((route) => route.replaceAll(/[:*](\w+)/g, '$1_1'));
const POSTS = filledIn(listPostRoutes());
const GETS = filledIn(listGetRoutes());

let service: TestService;
let member: Browserless;
beforeAll(async () => {
  service = await startTestService({ env: MEMBER_ENV });
  member = await signedInBrowser(service.url);
});
afterAll(() => service?.stop());

it.each(POSTS)(
  'refuses a form without its session’s token, from another site, or from a visitor: %s',
  async (path) => {
    for (const csrf of [null, 'x'.repeat(43)])
      expect((await member.post(path, {}, { csrf })).status).toBe(403);
    for (const [header, value] of [
      ['sec-fetch-site', 'cross-site'],
      ['origin', 'https://evil.example'],
    ] as const)
      expect((await member.post(path, {}, { headers: { [header]: value } })).status).toBe(403);
    expect((await browserless(service.url).post(path)).path).toBe('/sign-in');
  },
);

it.each(GETS)('is for members: %s', async (path) => {
  const visitor = browserless(service.url);
  expect((await visitor.get(path)).path).toBe(`/sign-in?next=${encodeURIComponent(path)}`);
  expect((await visitor.get(path, { 'hx-request': 'true' })).status).toBe(401);
});

it('leads from a part of a page, through the sign-in, to the whole page', async () => {
  const { headers } = await browserless(service.url).get('/conversations/list?tab=mine', {
    'hx-request': 'true',
    referer: `${service.url}/conversations?tab=mine`,
  });
  expect(headers.get('hx-redirect')).toBe(
    `/sign-in?next=${encodeURIComponent('/conversations?tab=mine')}&notice=session-ended`,
  );
});
