// What an owner may do and a member may not. The tests ask the addresses, not the buttons.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { browserless, MEMBER_ENV, type Browserless } from '../../../helpers/browserless.ts';
import { openFreshStore } from '../../../helpers/openStore.ts';
import { listPostRoutes } from '../../../helpers/screenRoutes.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { teamOfTwo } from '../../../helpers/teamOfTwo.ts';
import { systemClock } from '../../../../service/src/platform/clock.ts';
import {
  changeRole,
  createMember,
  createWorkspace,
} from '../../../../service/src/team/operations/team.ts';
import { roleOf, type Member } from '../../../../service/src/team/workspace.ts';

/** What a member may post. With the two lists below, it names each route once. */
const MEMBERS_POSTS = [
  ...['reply', 'note', 'assign', 'stage', 'take-over', 'hand-back', 'close', 'contact'].map(
    (verb) => `/conversations/:id/${verb}`,
  ),
  ...['messages/:messageId/retry', 'presence', 'payment-link', 'tool-calls/:callId/decide'].map(
    (rest) => `/conversations/:id/${rest}`,
  ),
  ...['send', 'cancel', 'mark-paid'].map(
    (verb) => `/conversations/:id/payments/:paymentId/${verb}`,
  ),
  ...['decide', 'cancel'].map((verb) => `/conversations/:id/waits/:waitId/${verb}`),
  ...['cancel', 'mark-paid'].map((verb) => `/payments/links/:id/${verb}`),
  ...['/waiting/tool-calls', '/waiting/waits', '/waits'].map((path) => `${path}/:id/decide`),
  ...['', '/:id', '/:id/remove'].map((rest) => `/settings/canned-replies${rest}`),
  ...['', '/:id/revoke'].map((rest) => `/team/invites${rest}`),
  ...['/account/profile', '/account/password'],
];
const OWNERS_POSTS = [
  '/conversations/:id/forget',
  ...['test-message', 'first-steps/dismiss'].map((rest) => `/overview/${rest}`),
  '/tools',
  ...['', '/test', '/go-live', '/pause', '/release', '/rotate-secret', '/remove'].map(
    (verb) => `/tools/:id${verb}`,
  ),
  ...['', '/switch', '/brain', '/release', '/try'].map((verb) => `/agent${verb}`),
  ...['', '/:id', '/:id/test', '/:id/disconnect'].map((rest) => `/channels${rest}`),
  ...['', '/test', '/remove'].map((verb) => `/payments/providers/:provider${verb}`),
  ...['', '/:id/edit', '/:id/revoke', '/subscriptions'].map((rest) => `/keys${rest}`),
  ...['test', 'recover', 'rotate-secret', 'revoke-previous-secrets', 'remove'].map(
    (verb) => `/keys/subscriptions/:id/${verb}`,
  ),
  ...['edit', 'pause', 'resume', 'release'].map((verb) => `/keys/subscriptions/:id/${verb}`),
  ...['curl', 'redeliver'].map((verb) => `/keys/subscriptions/:id/deliveries/:deliveryId/${verb}`),
  '/settings/n8n',
  ...['role', 'remove', 'reset-password'].map((verb) => `/team/members/:id/${verb}`),
];
/** What is posted to sign in, to sign out, or with a link that somebody was given. */
const WITHOUT_ROLE = [
  ...['/setup', '/sign-in', '/join', '/reset-password'],
  ...['/sign-out', '/sign-out-everywhere'],
];
const OWNERS_PAGES = [
  '/tools/new',
  '/channels/new?type=whatsapp_cloud',
  '/payments/providers/manual',
];
const EVERYBODYS_PAGES = [
  ...['/conversations', '/waiting', '/overview', '/tools', '/agent', '/channels', '/payments'],
  ...['/keys', '/team', '/settings', '/settings/canned-replies', '/account'],
];

/** A route's address with ids that do not exist. */
const pathOf = (route: string): string => route.replace(/:\w+/g, 'none_1');

describe('an owner and a member', () => {
  let service: TestService;
  let ana: Browserless;
  let ben: Browserless;
  let anaId: string;
  let benId: string;
  beforeAll(async () => {
    service = await startTestService({ env: MEMBER_ENV });
    ({ ana, ben, benId } = await teamOfTwo(service, 'member'));
    const { body } = await service.api.get('/api/members');
    anaId = body.data.find(({ id }: { id: string }) => id !== benId).id;
  });
  afterAll(() => service?.stop());

  it('each route that answers a POST is in one of the lists', () => {
    const listed = [...MEMBERS_POSTS, ...OWNERS_POSTS, ...WITHOUT_ROLE];
    expect(listPostRoutes()).toEqual(listed.sort());
  });

  it.each([...OWNERS_POSTS, '/KEYS/', '/conversations/:id/new', '/settings'])(
    'a member is refused: POST %s',
    async (route) => {
      await ben.get('/account');
      const { status, text } = await ben.post(pathOf(route), { role: 'owner' });
      expect([status, text]).toEqual([403, expect.stringContaining('Only an owner can do this.')]);
    },
  );

  it.each(MEMBERS_POSTS)('a member is not refused: POST %s', async (route) => {
    await ben.get('/account');
    const { status, text } = await ben.post(pathOf(route));
    expect([200, 201, 204, 400, 404]).toContain(status);
    expect(text).not.toContain('Only an owner');
  });

  it.each(OWNERS_PAGES)('a member is refused: GET %s', async (path) => {
    expect((await ben.get(path)).status).toBe(403);
    expect((await ana.get(path)).status).toBe(200);
  });

  it.each(EVERYBODYS_PAGES)(
    'a member sees %s, without a form that would be refused',
    async (path) => {
      const { status, html } = await ben.get(path);
      expect(status).toBe(200);
      for (const [, action] of html.matchAll(/<form[^>]* action="([^"]*)"/g))
        expect(action).toMatch(
          /^\/(conversations|waiting|waits|account|sign-out|settings\/canned-replies|team\/invites|payments\/links)|\/remove$/,
        );
      expect(html).not.toContain('href="/tools/new"');
    },
  );

  it('a member writes canned replies and invites members, but no owners', async () => {
    await ben.get('/settings/canned-replies');
    const reply = { name: 'Hello', shortcut: 'hello', text: 'Hello!' };
    expect((await ben.post('/settings/canned-replies', reply)).path).toContain('notice=');
    expect((await ben.get('/team')).html).not.toContain('name="role"');
    expect((await ben.post('/team/invites', { note: 'Cy', role: 'owner' })).status).toBe(403);
    await ana.get('/team');
    const unknown = await ana.post(`/team/members/${benId}/role`, { role: 'boss' });
    expect([unknown.status, unknown.text]).toEqual([
      400,
      expect.stringContaining('Choose one of the roles.'),
    ]);
    expect((await ben.post('/team/invites', { note: 'Cy' })).status).toBe(201);
  });

  it('a member revokes the invitations they made, and nobody else’s', async () => {
    await ana.get('/team');
    const { html } = await ana.post('/team/invites', { note: 'Dora' });
    const id = /team\/invites\/(\w+)\/revoke"(?:(?!<\/form>).)*for Dora/s.exec(html)![1]!;
    await ben.get('/team');
    expect((await ben.post(`/team/invites/${id}/revoke`)).status).toBe(403);
    expect((await ana.get('/team')).text).toContain('Dora');
  });

  it('the last owner is neither removed nor made a member', async () => {
    const { html } = await ana.get('/team');
    expect(html).not.toContain(`/team/members/${anaId}/`);
    for (const [verb, says] of [
      ['remove', 'The last owner cannot be removed.'],
      ['role', 'The last owner cannot become a member.'],
    ] as const) {
      const { status, text } = await ana.post(`/team/members/${anaId}/${verb}`, { role: 'member' });
      expect([status, text]).toEqual([400, expect.stringContaining(says)]);
    }
  });

  it('two owners who make each other members at once leave one owner', async () => {
    await ana.get('/team');
    await ana.post(`/team/members/${benId}/role`, { role: 'owner' });
    await Promise.all([ana.get('/team'), ben.get('/team')]);
    const answers = await Promise.all([
      ana.post(`/team/members/${benId}/role`, { role: 'member' }),
      ben.post(`/team/members/${anaId}/role`, { role: 'member' }),
    ]);
    expect(answers.filter(({ path }) => path === '/team?notice=role-changed')).toHaveLength(1);
    const [ofAna, ofBen] = [await ana.get('/tools/new'), await ben.get('/tools/new')];
    expect([ofAna.status, ofBen.status].sort()).toEqual([200, 403]);
    if (ofAna.status === 403) {
      await ben.get('/team');
      await ben.post(`/team/members/${anaId}/role`, { role: 'owner' });
      await ana.get('/team');
      await ana.post(`/team/members/${benId}/role`, { role: 'member' });
    }
  });

  it('an owner who is made a member loses what they handed out as an owner, at once', async () => {
    await ana.get('/team');
    await ana.post(`/team/members/${benId}/role`, { role: 'owner' });
    await ben.get('/team');
    const { html } = await ben.post('/team/invites', { note: 'Eve', role: 'owner' });
    const token = /join\?token=([\w-]+)/.exec(html)![1]!;
    const given = await ben.post(`/team/members/${anaId}/reset-password`);
    const [reset] = /\/reset-password\?token=[\w.-]+/.exec(given.html)!;
    expect((await browserless(service.url).get(reset)).status).toBe(200);
    await ana.post(`/team/members/${benId}/role`, { role: 'member' });
    expect((await ben.get('/tools/new')).status).toBe(403);
    for (const path of [`/join?token=${token}`, reset])
      expect((await browserless(service.url).get(path)).status).toBe(404);
  });

  it('a member can leave the team', async () => {
    await ben.get('/team');
    expect((await ben.post(`/team/members/${benId}/remove`)).path).toBe('/sign-in?notice=left');
  });
});

it('members from before there were roles are owners', async () => {
  const { store, remove } = await openFreshStore();
  try {
    const deps = { store, clock: systemClock };
    const workspace = await createWorkspace(deps, 'Acme');
    const fields = { name: 'Ana', email: 'ana@example.com', passwordHash: '' };
    const ana = await createMember(deps, workspace, fields);
    const ben = await createMember(deps, workspace, { ...fields, name: 'Ben', email: 'b@b.com' });
    expect([ana.role, ben.role]).toEqual(['owner', 'member']);
    const { role: _, ...withoutRole } = ana;
    const before: Member = withoutRole;
    await store.transaction((tx) => tx.members.put(before));
    await changeRole(deps, { workspace, member: before }, ben.id, 'owner');
    const now = await store.transaction((tx) => tx.members.peek(ben.id));
    expect([roleOf(before), roleOf(now!)]).toEqual(['owner', 'owner']);
  } finally {
    await remove();
  }
});
