// What a sign-in says, and where it leads: to the page that was asked for, never to another site.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { browserless, MEMBER, MEMBER_ENV, signedInBrowser } from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

describe('a sign-in', () => {
  let service: TestService;
  let cookie: string;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    ({ cookie } = await signedInBrowser(service.url));
  });
  afterAll(() => service?.stop());

  /** Where the form leads, and where the page leads somebody who is signed in already. */
  const leadsTo = async (next: string) => {
    const redirect = 'manual';
    const body = new URLSearchParams({ ...MEMBER, next });
    const answers = await Promise.all([
      fetch(`${service.url}/sign-in`, { method: 'POST', body, redirect }),
      fetch(`${service.url}/sign-in?${new URLSearchParams({ next })}`, {
        headers: { cookie },
        redirect,
      }),
    ]);
    return answers.map(({ status, headers }) => [status, headers.get('location')]);
  };

  it('shows the e-mail again when it is refused, but not the password', async () => {
    const { email } = MEMBER;
    const page = await browserless(service.url).post('/sign-in', { email, password: 'wrong one' });
    expect([page.status, page.value('email')]).toEqual([401, email]);
    expect(page.text).toContain('The email or password is wrong.');
    expect(page.html).not.toContain('wrong one');
  });

  it('leads to the page that was asked for', async () => {
    const path = '/payments?status=paid';
    expect(await leadsTo(path)).toEqual([
      [303, path],
      [303, path],
    ]);
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/\t/evil.example',
    'https:evil.example',
    '/sign-in',
    ' //evil.example',
    '',
  ])('leads to the first page instead of “%s”', async (next) => {
    expect(await leadsTo(next)).toEqual([
      [303, '/'],
      [303, '/'],
    ]);
  });

  // Paths of our own service, at which there is no page.
  it.each(['/%09/evil.example', '/@evil.example'])('leads to our own “%s”', async (next) => {
    for (const [status, location] of await leadsTo(next))
      expect([status, new URL(String(location), service.url).href]).toEqual([
        303,
        service.url + next,
      ]);
  });
});
