import { Router, type Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { acceptInvite, findInvite, revokeInvite, createInvite } from '../operations/invites.ts';
import { changePassword, startSession, type SignedIn } from '../operations/sessions.ts';
import { createPasswordReset } from '../operations/passwordReset.ts';
import { changeProfile } from '../operations/profile.ts';
import { changeRole, listTeam, removeMember } from '../operations/team.ts';
import { isOwner, roleOf, ROLES, type Member, type Role } from '../workspace.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import type { AttemptLimits } from './signInAttempts.ts';
import { copyable, csrfField, postButton, shownOnce } from '../../platform/html/components.ts';
import { noteError } from '../../platform/html/errorPage.ts';
import {
  field,
  formProblems,
  newForm,
  parseForm,
  readForm,
  readPublicFormBody,
  select,
  type FormState,
} from '../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { plainPage, teamPage } from '../../platform/html/layout.ts';
import { setSessionCookie, signedInOf } from '../signedIn.ts';
import { newMemberFields, newMemberSchema, newPasswordField } from './setup.ts';
import { passwordSchema } from '../password.ts';
import { currentPasswordField, deadLinkPage } from './signIn.ts';
import { isTimeZone, timeZones } from '../../platform/html/readerZone.ts';
import { timeView } from '../../platform/html/times.ts';

const roleSchema = z.enum(ROLES, 'choose one of the roles');
const inviteSchema = z.object({ note: textSchema(100), role: roleSchema.default('member') });
const profileSchema = z.object({
  name: textSchema(100),
  timeZone: z.string().refine(isTimeZone, 'choose a time zone from the list'),
});
const passwordChangeSchema = z.object({
  current: z.string().min(1, 'is missing'),
  next: passwordSchema,
});

/** The team's members and invitations, and each member's own account. */
export function teamRouter(deps: Deps, limits: AttemptLimits, publicUrl: () => string): Router {
  const router = Router();
  const show: Show = async (response, status, extras) => {
    const signedIn = signedInOf(response);
    const team = await listTeam(deps, signedIn.workspace);
    sendPage(response, teamScreen(signedIn, { ...team, ...extras }, deps.clock.now()), status);
  };
  router.get('/team', ({ query }, response) => show(response, 200, { notice: query.notice }));
  addInvites(router, deps, show, publicUrl);
  addMembers(router, deps, show, publicUrl);
  addAccount(router, deps, limits);
  // A page that answered a POST has the form's address. Opening it leads back to the screen.
  router.get('/team/*action', (_request, response) => response.redirect(303, '/team'));
  router.get('/account/:action', (_request, response) => response.redirect(303, '/account'));
  return router;
}

type Show = (response: Response, status: number, extras: TeamScreenExtras) => Promise<void>;

function addInvites(router: Router, deps: Deps, show: Show, publicUrl: () => string): void {
  router.post('/team/invites', async (request, response) => {
    const { member } = signedInOf(response);
    const form = parseForm(inviteSchema, readForm(request));
    if (!form.ok) return show(response, 400, { form });
    try {
      const { token } = await createInvite(deps, member, form.data.note, form.data.role);
      await show(response, 201, { link: `${publicUrl()}/join?token=${token}` });
    } catch (error) {
      if (!(error instanceof AppError) || error.details.param !== 'note') throw error;
      const problems = { note: error.message };
      await show(response, 400, { form: { values: readForm(request), problems } });
    }
  });

  router.post('/team/invites/:id/revoke', async (request, response) => {
    await revokeInvite(deps, signedInOf(response).member, request.params.id);
    response.redirect(303, '/team?notice=removed');
  });
}

function addMembers(router: Router, deps: Deps, show: Show, publicUrl: () => string): void {
  router.post('/team/members/:id/remove', async ({ params }, response) => {
    const signedIn = signedInOf(response);
    await removeMember(deps, signedIn, params.id);
    const isSelf = params.id === signedIn.member.id;
    response.redirect(303, isSelf ? '/sign-in?notice=left' : '/team?notice=removed');
  });

  router.post('/team/members/:id/role', async (request, response) => {
    const form = parseForm(z.object({ role: roleSchema }), readForm(request));
    if (!form.ok)
      throw new AppError('invalid_request', 'Choose one of the roles.', { param: 'role' });
    await changeRole(deps, signedInOf(response), request.params.id, form.data.role);
    response.redirect(303, '/team?notice=role-changed');
  });

  router.post('/team/members/:id/reset-password', async ({ params }, response) => {
    const { token, member } = await createPasswordReset(deps, signedInOf(response), params.id);
    await show(response, 201, {
      reset: { name: member.name, link: `${publicUrl()}/reset-password?token=${token}` },
    });
  });
}

function addAccount(router: Router, deps: Deps, limits: AttemptLimits): void {
  router.get('/account', ({ query }, response) =>
    sendPage(response, accountScreen(signedInOf(response), { notice: query.notice })),
  );

  router.post('/account/profile', async (request, response) => {
    const signedIn = signedInOf(response);
    const profile = parseForm(profileSchema, readForm(request));
    if (!profile.ok) return sendPage(response, accountScreen(signedIn, { profile }), 400);
    await changeProfile(deps, signedIn.member, profile.data);
    response.redirect(303, '/account?notice=saved');
  });

  router.post('/account/password', async (request, response) => {
    const signedIn = signedInOf(response);
    const refuse = (form: FormState, status: number) =>
      sendPage(response, accountScreen(signedIn, { form }), status);
    const form = parseForm(passwordChangeSchema, readForm(request));
    if (!form.ok) return refuse({ ...form, values: {} }, 400);
    try {
      const attempt = await limits.changePassword(signedIn.member.id);
      await changePassword(deps, signedIn, form.data);
      await attempt.forgive();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      noteError(response, error);
      return refuse({ values: {}, problems: { current: error.message } }, error.status);
    }
    response.redirect(303, '/account?notice=password-changed');
  });
}

/** Joining with an invitation link, before signing in. */
export function joinRouter(deps: Deps, limits: AttemptLimits, isHttps: () => boolean): Router {
  const router = Router();
  router.get('/join', async ({ query }, response) => {
    const token = typeof query.token === 'string' ? query.token : '';
    if (await findInvite(deps, token)) sendPage(response, joinPage(token, newForm()));
    else sendPage(response, deadInvitationPage, 404);
  });
  router.post('/join', readPublicFormBody, async (request, response) => {
    const attempt = await limits.useLink(request);
    const values = readForm(request);
    const token = values.token ?? '';
    const form = parseForm(newMemberSchema, values);
    if (!form.ok) return sendPage(response, joinPage(token, form), 400);
    try {
      const member = await acceptInvite(deps, token, form.data);
      if (!member) return sendPage(response, deadInvitationPage, 404);
      await attempt.forgive();
      setSessionCookie(response, await startSession(deps, member), isHttps());
      response.redirect(303, '/');
    } catch (error) {
      if (!(error instanceof AppError) || error.details.param !== 'email') throw error;
      sendPage(response, joinPage(token, { values, problems: { email: error.message } }), 400);
    }
  });
  return router;
}

const deadInvitationPage = deadLinkPage(
  'An invitation works once, within seven days. Ask for a new one.',
);

const joinPage = (token: string, form: FormState): View =>
  plainPage(
    'Join the team',
    html`
      <h1>Join the team</h1>
      ${formProblems(form)}
      <form method="post" action="/join">
        <input type="hidden" name="token" value=${token} />
        ${newMemberFields(form)}
        <button>Join</button>
      </form>
    `,
  );

type Team = Awaited<ReturnType<typeof listTeam>>;

interface TeamScreenExtras {
  readonly notice?: unknown;
  /** A new invitation. */
  readonly link?: string;
  /** A new link for a forgotten password, and whose it is. */
  readonly reset?: { readonly name: string; readonly link: string };
  readonly form?: FormState;
}

const teamScreen = (
  signedIn: SignedIn,
  { members, invites, notice, link, reset, form = newForm() }: Team & TeamScreenExtras,
  now: Date,
): View =>
  teamPage(
    signedIn,
    { title: 'Team', section: 'team', notice },
    html`
      <h1>Team</h1>
      ${
        reset === undefined
          ? null
          : shownOnce(
              `A new password for ${reset.name}`,
              `Give this link to ${reset.name} in person, or in a chat or call where you are sure who it is. It works once, within 24 hours, and signs them out everywhere.`,
              reset.link,
              null,
            )
      }
      ${membersTable(signedIn, members, now)}
      <h2>Invite a member</h2>
      ${
        link === undefined
          ? null
          : html`<article>
              <p>Send this link to the new member. It works once, within seven days. You won’t be able to see it again.</p>
              <p>${copyable('link', link, 'the invitation link')}</p>
            </article>`
      }
      <form method="post" action="/team/invites">
        ${csrfField(signedIn)}
        ${field({
          name: 'note',
          label: 'Who is it for?',
          form,
          attributes: { required: true, maxlength: 100 },
        })}
        ${isOwner(signedIn.member) ? roleField(form) : null}
        <button>Create invitation link</button>
      </form>
      ${invites.length === 0 ? null : openInvites(signedIn, invites, now)}
    `,
  );

const ROLE_LABELS: Readonly<Record<Role, string>> = { owner: 'Owner', member: 'Member' };

const roleField = (form: FormState): View =>
  select({
    name: 'role',
    label: 'Role',
    form: { ...form, values: { role: 'member', ...form.values } },
    help: 'A member answers customers. An owner also manages the team, keys, channels, payments, tools and the agent.',
    options: [
      ['member', ROLE_LABELS.member],
      ['owner', ROLE_LABELS.owner],
    ],
  });

/** Whether the workspace has no other owner, so that this member must stay, and stay an owner. */
const isLastOwner = (members: Team['members'], { id }: Member): boolean =>
  !members.some((other) => other.id !== id && isOwner(other));

const membersTable = (signedIn: SignedIn, members: Team['members'], now: Date): View => html`
  <div class="scroll stacks" tabindex="0" role="region" aria-label="Members">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Email</th>
          <th scope="col">Role</th>
          <th scope="col">Joined</th>
          <th scope="col"><span class="muted">Action</span></th>
        </tr>
      </thead>
      <tbody>
        ${members.map(
          (member) => html`
            <tr>
              <td>${member.name}${member.id === signedIn.member.id ? ' (you)' : ''}</td>
              <td>${member.email}</td>
              <td data-label="Role">${ROLE_LABELS[roleOf(member)]}</td>
              <td data-label="Joined">${timeView(member.createdAt, now)}</td>
              <td>
                <div class="row">
                  ${memberActions(signedIn, member, isLastOwner(members, member))}
                </div>
              </td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;

/** The buttons of an owner. ownersOnly.ts hides from a member what a member may not do. */
function memberActions(signedIn: SignedIn, member: Member, mustStay: boolean): View {
  const { id, name } = member;
  const isSelf = id === signedIn.member.id;
  const [newRole, label] = isOwner(member)
    ? (['member', 'Make a member'] as const)
    : (['owner', 'Make an owner'] as const);
  return [
    mustStay
      ? null
      : postButton(signedIn, {
          action: `/team/members/${id}/role`,
          label,
          hidden: { role: newRole },
          ...(isSelf ? { confirm: 'You will no longer manage this workspace. Go on?' } : {}),
          button: { class: 'small secondary outline', 'aria-label': `${label}: ${name}` },
          form: { class: 'inline' },
        }),
    isSelf
      ? null
      : postButton(signedIn, {
          action: `/team/members/${id}/reset-password`,
          label: 'Reset password',
          button: {
            class: 'small secondary outline',
            'aria-label': `Reset password: ${name}`,
          },
          form: { class: 'inline' },
        }),
    mustStay
      ? null
      : postButton(signedIn, {
          action: `/team/members/${id}/remove`,
          label: isSelf ? 'Leave' : 'Remove',
          confirm: isSelf ? 'Leave this team?' : `Remove ${name} from the team?`,
          button: {
            class: 'small danger',
            'aria-label': isSelf ? 'Leave the team' : `Remove ${name}`,
          },
          form: { class: 'inline' },
        }),
  ];
}

const openInvites = (signedIn: SignedIn, invites: Team['invites'], now: Date): View => html`
  <h3>Open invitations</h3>
  <ul>
    ${invites.map(
      ({ id, note, role, createdBy, createdById, expiresAt }) => html`
        <li>
          ${note}${
            role === 'owner' ? ' (as an owner)' : ''
          }, invited by ${createdBy}, expires ${timeView(expiresAt, now)}${' '}
          ${
            isOwner(signedIn.member) || createdById === signedIn.member.id
              ? postButton(signedIn, {
                  action: `/team/invites/${id}/revoke`,
                  label: 'Revoke',
                  button: {
                    class: 'small danger',
                    'aria-label': `Revoke the invitation for ${note}`,
                  },
                  form: { class: 'inline' },
                })
              : null
          }
        </li>
      `,
    )}
  </ul>
`;

const accountScreen = (
  signedIn: SignedIn,
  {
    notice,
    form = newForm(),
    profile = newForm({
      name: signedIn.member.name,
      timeZone: signedIn.member.timeZone ?? 'UTC',
    }),
  }: { notice?: unknown; form?: FormState; profile?: FormState },
): View =>
  teamPage(
    signedIn,
    { title: 'Your account', section: 'account', notice },
    html`
      <h1>Your account</h1>
      <p>${signedIn.member.name}, ${signedIn.member.email}</p>
      <div class="row">
        ${postButton(signedIn, {
          action: '/sign-out',
          label: 'Sign out',
          form: { 'hx-boost': 'false' },
        })}
        ${postButton(signedIn, {
          action: '/sign-out-everywhere',
          label: 'Sign out everywhere',
          button: { class: 'secondary' },
          form: { 'hx-boost': 'false' },
        })}
      </div>
      <h2>Profile</h2>
      <form method="post" action="/account/profile">
        ${formProblems(profile)}
        ${csrfField(signedIn)}
        ${field({
          name: 'name',
          label: 'Your name',
          form: profile,
          help: 'Customers see it next to your messages.',
          attributes: { required: true, maxlength: 100, autocomplete: 'name' },
        })}
        ${select({
          name: 'timeZone',
          label: 'Time zone',
          form: profile,
          help: 'For the days of the Overview, and for times on pages where scripts are off. With scripts, other times are in your browser’s own zone.',
          options: timeZones().map((zone) => [zone, zone.replaceAll('_', ' ')] as const),
        })}
        <button>Save</button>
      </form>
      <h2>Change password</h2>
      <form method="post" action="/account/password">
        ${csrfField(signedIn)}
        ${currentPasswordField('current', 'Current password', form)}
        ${newPasswordField('next', 'New password', form)}
        <button>Change password</button>
      </form>
    `,
  );
