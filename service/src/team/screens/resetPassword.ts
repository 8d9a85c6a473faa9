import { Router } from 'express';
import { z } from 'zod';
import type { Deps } from '../../platform/deps.ts';
import {
  formProblems,
  newForm,
  parseForm,
  readForm,
  readPublicFormBody,
  type FormState,
} from '../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { plainPage } from '../../platform/html/layout.ts';
import { findPasswordReset, resetPassword } from '../operations/passwordReset.ts';
import { passwordSchema } from '../password.ts';
import { clearSessionCookie } from '../signedIn.ts';
import { newPasswordField } from './setup.ts';
import { deadLinkPage } from './signIn.ts';
import type { AttemptLimits } from './signInAttempts.ts';

const schema = z.object({ password: passwordSchema });

/** Choosing another password with a link that an owner made. */
export function resetPasswordRouter(
  deps: Deps,
  limits: AttemptLimits,
  isHttps: () => boolean,
): Router {
  const router = Router();
  router.get('/reset-password', async ({ query }, response) => {
    const token = typeof query.token === 'string' ? query.token : '';
    const member = await findPasswordReset(deps, token);
    if (!member) return sendPage(response, usedLinkPage, 404);
    sendPage(response, resetPage(member.email, token, newForm()));
  });
  router.post('/reset-password', readPublicFormBody, async (request, response) => {
    const attempt = await limits.useLink(request);
    const values = readForm(request);
    const token = values.token ?? '';
    const member = await findPasswordReset(deps, token);
    if (!member) return sendPage(response, usedLinkPage, 404);
    const form = parseForm(schema, values);
    if (!form.ok) return sendPage(response, resetPage(member.email, token, form), 400);
    if (!(await resetPassword(deps, token, form.data.password)))
      return sendPage(response, usedLinkPage, 404);
    await attempt.forgive();
    clearSessionCookie(response, isHttps());
    response.redirect(303, '/sign-in?notice=password-reset');
  });
  return router;
}

const usedLinkPage = deadLinkPage(
  'A link for a new password works once, within 24 hours. Ask an owner of your team for another one.',
);

const resetPage = (email: string, token: string, form: FormState): View =>
  plainPage(
    'Choose a new password',
    html`
      <h1>Choose a new password</h1>
      <p>For ${email}. You will be signed out everywhere.</p>
      ${formProblems(form)}
      <form method="post" action="/reset-password">
        <input type="hidden" name="token" value=${token} />
        <input type="hidden" name="username" value=${email} autocomplete="username" />
        ${newPasswordField('password', 'New password', form)}
        <button>Save the password</button>
      </form>
    `,
  );
