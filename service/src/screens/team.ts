import { Router } from 'express';
import { z } from 'zod';
import type { Deps } from '../domain/deps.ts';
import { acceptInvite, findInvite, revokeInvite } from '../domain/operations/acceptInvite.ts';
import { changePassword } from '../domain/operations/changePassword.ts';
import { createInvite } from '../domain/operations/createInvite.ts';
import { deleteSessionsOf } from '../domain/operations/endSessions.ts';
import type { SignedIn } from '../domain/operations/findSession.ts';
import { listTeam } from '../domain/operations/listTeam.ts';
import { removeMember } from '../domain/operations/removeMember.ts';
import { startSession } from '../domain/operations/signIn.ts';
import { AppError } from '../domain/errorCatalogue.ts';
import { textSchema } from '../http/contract/shared.ts';
import type { AttemptLimits } from './attempts.ts';
import { noteError } from './errorPage.ts';
import {
  field,
  formProblem,
  formValues,
  parseForm,
  readFormBody,
  type FormValues,
  type Problems,
} from './forms.ts';
import { html, renderDocument, type View } from './html.ts';
import { csrfField, plainPage, teamPage } from './layout.ts';
import { setSessionCookie, signedInOf } from './session.ts';
import { newMemberFields, newMemberSchema, passwordSchema } from './setup.ts';
import { timeView } from './times.ts';

const inviteSchema = z.object({ note: textSchema(100) });

/** The members: who is there, who is invited. */
export function teamRouter(deps: Deps, limits: AttemptLimits, publicUrl: () => string): Router {
  const router = Router();
  const show = async (
    signedIn: SignedIn,
    more: { notice?: unknown; link?: string; values?: FormValues; problems?: Problems } = {},
  ) =>
    renderDocument(
      teamScreen(signedIn, {
        ...(await listTeam(deps, signedIn.workspace)),
        now: deps.clock.now(),
        ...more,
      }),
    );

  router.get(
    '/team',
    async (request, response) =>
      void response
        .type('html')
        .send(await show(signedInOf(response), { notice: request.query.notice })),
  );

  router.post('/team/invites', async (request, response) => {
    const signedIn = signedInOf(response);
    const values = formValues(request.body);
    const form = parseForm(inviteSchema, values);
    if (!form.ok)
      return void response
        .status(400)
        .type('html')
        .send(await show(signedIn, { values, problems: form.problems }));
    const { token } = await createInvite(deps, signedIn.member, form.data.note);
    response
      .status(201)
      .type('html')
      .send(await show(signedIn, { link: `${publicUrl()}/join?token=${token}` }));
  });

  router.post('/team/invites/:id/revoke', async (request, response) => {
    await revokeInvite(deps, signedInOf(response).member, request.params.id);
    response.redirect(303, '/team?notice=removed');
  });

  router.post('/team/members/:id/remove', async (request, response) => {
    const signedIn = signedInOf(response);
    await removeMember(deps, signedIn.workspace, request.params.id);
    response.redirect(
      303,
      request.params.id === signedIn.member.id ? '/sign-in?notice=left' : '/team?notice=removed',
    );
  });

  router.get(
    '/account',
    (request, response) =>
      void response
        .type('html')
        .send(
          renderDocument(accountScreen(signedInOf(response), { notice: request.query.notice })),
        ),
  );

  router.post('/account/password', async (request, response) => {
    const signedIn = signedInOf(response);
    const refuse = (problems: Problems, status = 400) =>
      response
        .status(status)
        .type('html')
        .send(renderDocument(accountScreen(signedIn, { problems })));
    const form = parseForm(
      z.object({ current: z.string().min(1, 'is missing'), next: passwordSchema }),
      formValues(request.body),
    );
    if (!form.ok) return void refuse(form.problems);
    try {
      const attempt = await limits.changePassword(signedIn.member.id);
      await changePassword(deps, signedIn, form.data);
      await attempt.forgive();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      noteError(response, error);
      return void refuse({ current: error.message }, error.status);
    }
    response.redirect(303, '/account?notice=password');
  });

  // A form's answer is shown under the form's address: loading that again leads back.
  router.get('/team/*action', (_request, response) => response.redirect(303, '/team'));
  router.get('/account/password', (_request, response) => response.redirect(303, '/account'));

  return router;
}

/** Joining by an invitation's link; before anybody is signed in. */
export function joinRouter(deps: Deps, limits: AttemptLimits, isHttps: () => boolean): Router {
  const router = Router();
  router.get('/join', async (request, response) => {
    const token = typeof request.query.token === 'string' ? request.query.token : '';
    const invite = await findInvite(deps, token);
    response
      .status(invite ? 200 : 404)
      .type('html')
      .send(renderDocument(invite ? joinPage(token) : uselessLink));
  });
  router.post('/join', readFormBody, async (request, response) => {
    const attempt = await limits.useLink(request);
    const values = formValues(request.body);
    const token = values.token ?? '';
    const refuse = (problems: Problems) =>
      response
        .status(400)
        .type('html')
        .send(renderDocument(joinPage(token, values, problems)));
    const form = parseForm(newMemberSchema, values);
    if (!form.ok) return void refuse(form.problems);
    try {
      const member = await acceptInvite(deps, token, form.data);
      if (!member) return void response.status(404).type('html').send(renderDocument(uselessLink));
      await attempt.forgive();
      await deps.store.transaction((tx) => deleteSessionsOf(tx, member.id));
      setSessionCookie(response, await startSession(deps, member), isHttps());
      response.redirect(303, '/conversations');
    } catch (error) {
      if (error instanceof AppError && error.details.param === 'email')
        return void refuse({ email: error.message });
      throw error;
    }
  });
  return router;
}

const uselessLink = plainPage(
  'This link does not work',
  html`<h1>This link does not work</h1><p>An invitation works once, for seven days. Ask for a new one.</p><p><a href="/sign-in">Sign in</a></p>`,
);

const joinPage = (token: string, values: FormValues = {}, problems: Problems = {}): View =>
  plainPage(
    'Join the team',
    html`
      <h1>Join the team</h1>
      ${formProblem(Object.keys(problems).length > 0 ? 'Correct what is marked below.' : undefined)}
      <form method="post" action="/join">
        <input type="hidden" name="token" value=${token} />
        ${newMemberFields(values, problems)}
        <button>Join</button>
      </form>
    `,
  );

type Team = Awaited<ReturnType<typeof listTeam>>;

const teamScreen = (
  signedIn: SignedIn,
  {
    members,
    invites,
    now,
    notice,
    link,
    values,
    problems,
  }: Team & {
    now: Date;
    notice?: unknown;
    link?: string;
    values?: FormValues;
    problems?: Problems;
  },
): View =>
  teamPage(
    signedIn,
    { title: 'Team', section: 'team', notice },
    html`
      <h1>Team</h1>
      <div class="scroll" tabindex="0" role="region" aria-label="Members">
        <table>
          <thead><tr><th scope="col">Name</th><th scope="col">E-mail</th><th scope="col">Since</th><th scope="col"><span class="muted">Action</span></th></tr></thead>
          <tbody>
            ${members.map(
              (member) => html`
                <tr>
                  <td>${member.name}${member.id === signedIn.member.id ? ' (you)' : ''}</td>
                  <td>${member.email}</td>
                  <td>${timeView(member.createdAt, now)}</td>
                  <td>
                    ${
                      members.length > 1
                        ? html`<form class="inline" method="post" action=${`/team/members/${member.id}/remove`} data-confirm=${`Remove ${member.name} from the team?`}>${csrfField(signedIn)}<button class="small outline secondary" aria-label=${`Remove ${member.name}`}>Remove</button></form>`
                        : null
                    }
                  </td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      <h2>Invite somebody</h2>
      ${
        link === undefined
          ? null
          : html`<article>
            <p>Send this link to the person. It works once, for seven days, and is shown this once:</p>
            <p><code id="link">${link}</code> <button class="small" type="button" data-copy="#link">Copy</button></p>
          </article>`
      }
      <form method="post" action="/team/invites">
        ${csrfField(signedIn)}
        ${field({ name: 'note', label: 'Who is it for?', values: values ?? {}, problems: problems ?? {}, attributes: { required: true, maxlength: 100 } })}
        <button>Make a link</button>
      </form>
      ${
        invites.length === 0
          ? null
          : html`
            <h3>Open invitations</h3>
            <ul>
              ${invites.map(
                (invite) => html`
                  <li>
                    ${invite.note}, invited by ${invite.createdBy}, ends ${timeView(invite.expiresAt, now)}${' '}
                    <form class="inline" method="post" action=${`/team/invites/${invite.id}/revoke`}>${csrfField(signedIn)}<button class="small outline secondary" aria-label=${`Revoke the invitation for ${invite.note}`}>Revoke</button></form>
                  </li>
                `,
              )}
            </ul>
          `
      }
    `,
  );

const accountScreen = (
  signedIn: SignedIn,
  { notice, problems = {} }: { notice?: unknown; problems?: Problems },
): View =>
  teamPage(
    signedIn,
    { title: 'Your account', section: 'account', notice },
    html`
      <h1>Your account</h1>
      <p>${signedIn.member.name}, ${signedIn.member.email}</p>
      <div class="row">
        <form method="post" action="/sign-out" hx-boost="false">${csrfField(signedIn)}<button>Sign out</button></form>
        <form method="post" action="/sign-out-everywhere" hx-boost="false">${csrfField(signedIn)}<button class="secondary">Sign out everywhere</button></form>
      </div>
      <h2>Change your password</h2>
      <form method="post" action="/account/password">
        ${csrfField(signedIn)}
        ${field({ name: 'current', label: 'Present password', problems, attributes: { type: 'password', required: true, autocomplete: 'current-password', maxlength: 200 } })}
        ${field({ name: 'next', label: 'New password', problems, attributes: { type: 'password', required: true, autocomplete: 'new-password', minlength: 10, maxlength: 200 } })}
        <button>Change password</button>
      </form>
    `,
  );
