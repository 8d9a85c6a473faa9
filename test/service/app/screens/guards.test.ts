// Who may see and change anything on the team's screens: the addresses below, one by one.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  browserless,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

/** Refused before anything is looked up, so the ids need not exist. */
const POSTS = [
  ...['reply', 'take-over', 'hand-back', 'note', 'stage', 'assign', 'close', 'payment-link'].map(
    (verb) => `/conversations/conv_1/${verb}`,
  ),
  ...['approve', 'reject'].map((verb) => `/conversations/conv_1/tool-calls/call_1/${verb}`),
  ...['send', 'cancel', 'mark-paid'].map((verb) => `/conversations/conv_1/payments/pay_1/${verb}`),
  ...['', '/canned_1', '/canned_1/remove'].map((rest) => `/settings/canned-replies${rest}`),
  '/tools',
  ...['', '/test', '/go-live', '/pause', '/release', '/rotate-secret', '/remove'].map(
    (verb) => `/tools/tool_1${verb}`,
  ),
  ...['', '/switch', '/try'].map((verb) => `/agent${verb}`),
  '/channels',
  ...['', '/test', '/disconnect'].map((verb) => `/channels/chan_1${verb}`),
  ...['cancel', 'mark-paid'].map((verb) => `/payments/links/pay_1/${verb}`),
  ...['', '/test', '/remove'].map((verb) => `/payments/providers/manual${verb}`),
  '/keys',
  '/keys/key_1/revoke',
  '/keys/subscriptions',
  ...[
    'test',
    'recover',
    'rotate-secret',
    'revoke-previous-secrets',
    'remove',
    'edit',
    'pause',
    'resume',
    'release',
  ].map((verb) => `/keys/subscriptions/sub_1/${verb}`),
  '/keys/subscriptions/sub_1/deliveries/del_1/redeliver',
  '/team/invites',
  '/team/invites/inv_1/revoke',
  '/team/members/mem_1/remove',
  '/team/members/mem_1/role',
  '/team/members/mem_1/reset-password',
  '/overview/test-message',
  '/overview/first-steps/dismiss',
  '/settings/n8n',
  '/account/profile',
  '/account/password',
  '/sign-out',
  '/sign-out-everywhere',
];

const GETS = [
  ...['', '/list', '/conv_1', '/conv_1/items'].map((path) => `/conversations${path}`),
  ...['', '/new', '/fragment', '/tool_1'].map((path) => `/tools${path}`),
  '/agent',
  ...['', '/new?type=whatsapp_cloud', '/fragment', '/chan_1'].map((path) => `/channels${path}`),
  ...['', '/links', '/providers/manual'].map((path) => `/payments${path}`),
  ...['', '/live/api-keys', '/subscriptions/sub_1'].map((path) => `/keys${path}`),
  ...['', '/find-order-tool.json'].map((path) => `/examples${path}`),
  '/team',
  '/settings',
  '/account',
  '/live',
];

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
