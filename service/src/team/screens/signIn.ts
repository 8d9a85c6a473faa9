import { Router, type Response } from 'express';
import { z } from 'zod';
import { normalizeEmail } from '../../platform/contactDetails.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { endAllSessions, endSession, findSession, signIn } from '../operations/sessions.ts';
import type { AttemptLimits } from './signInAttempts.ts';
import { noteError } from '../../platform/html/errorPage.ts';
import {
  field,
  formProblem,
  newForm,
  parseForm,
  readForm,
  readPublicFormBody,
  type FormState,
} from '../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { plainPage } from '../../platform/html/layout.ts';
import { noticeView } from '../../platform/html/notices.ts';
import {
  clearSessionCookie,
  requireCsrfToken,
  requireMember,
  sessionToken,
  setSessionCookie,
  signedInOf,
} from '../signedIn.ts';

const schema = z.object({
  email: z.string().trim().min(1, 'is missing').max(254),
  password: z.string().min(1, 'is missing').max(200),
  next: z.string().default(''),
});

/** Allows only paths of this service, so that a link cannot lead elsewhere after the sign-in. */
const safePath = (next: string): string =>
  /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.startsWith('/sign-in') ? next : '/';

/** Signing in and out. @param isHttps whether the public URL begins with https:// */
export function signInRouter(deps: Deps, limits: AttemptLimits, isHttps: () => boolean): Router {
  const router = Router();

  router.get('/sign-in', async (request, response) => {
    const token = sessionToken(request);
    const next = typeof request.query.next === 'string' ? request.query.next : '';
    if (token !== null && (await findSession(deps, token)))
      return response.redirect(303, safePath(next));
    sendPage(response, signInPage(newForm({ next }), request.query.notice));
  });

  router.post('/sign-in', readPublicFormBody, async (request, response) => {
    const values = readForm(request);
    const refuse = (status: number, problem: string) =>
      sendPage(response, signInPage({ values, problems: { '': problem } }), status);
    const form = parseForm(schema, values);
    if (!form.ok) return refuse(400, 'Enter your email and password.');
    try {
      const attempt = await limits.signIn(request, normalizeEmail(form.data.email));
      const token = await signIn(deps, { ...form.data, tries: attempt.tries });
      if (token === null) return refuse(401, 'The email or password is wrong.');
      await attempt.forgive();
      setSessionCookie(response, token, isHttps());
      response.redirect(303, safePath(form.data.next));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      noteError(response, error);
      refuse(error.status, error.message);
    }
  });

  const forMembers = [readPublicFormBody, ...requireMember(deps), requireCsrfToken];
  const leave = (response: Response, notice: string) => {
    clearSessionCookie(response, isHttps());
    response.redirect(303, `/sign-in?notice=${notice}`);
  };
  router.post('/sign-out', forMembers, async (_request: unknown, response: Response) => {
    await endSession(deps, signedInOf(response).session.id);
    leave(response, 'signed-out');
  });
  router.post('/sign-out-everywhere', forMembers, async (_request: unknown, response: Response) => {
    await endAllSessions(deps, signedInOf(response).member.id);
    leave(response, 'signed-out-everywhere');
  });
  return router;
}

const signInPage = (form: FormState, notice?: unknown): View =>
  plainPage(
    'Sign in',
    html`
      <h1>Sign in</h1>
      ${noticeView(notice)}
      ${formProblem(form.problems[''])}
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value=${form.values.next ?? ''} />
        ${field({
          name: 'email',
          label: 'Email',
          form,
          attributes: {
            type: 'email',
            required: true,
            autocomplete: 'username',
            maxlength: 254,
            autofocus: true,
          },
        })}
        ${currentPasswordField('password', 'Password')}
        <button>Sign in</button>
      </form>
      <p class="muted">
        Forgotten your password? An owner of your team can give you a link under Team.
      </p>
    `,
  );

/** For a link that was used, has expired or never was one. @param words what to do about it */
export const deadLinkPage = (words: string): View =>
  plainPage(
    'This link does not work',
    html`
      <h1>This link does not work</h1>
      <p>${words}</p>
      <p><a href="/sign-in">Sign in</a></p>
    `,
  );

export const currentPasswordField = (name: string, label: string, form = newForm()): View =>
  field({
    name,
    label,
    form,
    attributes: {
      type: 'password',
      required: true,
      autocomplete: 'current-password',
      maxlength: 200,
    },
  });
