import { Router, type Response } from 'express';
import { z } from 'zod';
import { normalizeEmail } from '../domain/contact.ts';
import type { Deps } from '../domain/deps.ts';
import { endAllSessions, endSession } from '../domain/operations/endSessions.ts';
import { findSession } from '../domain/operations/findSession.ts';
import { signIn } from '../domain/operations/signIn.ts';
import { AppError } from '../domain/errorCatalogue.ts';
import type { AttemptLimits } from './attempts.ts';
import { noteError } from './errorPage.ts';
import {
  field,
  formProblem,
  formValues,
  parseForm,
  readFormBody,
  type FormValues,
} from './forms.ts';
import { html, renderDocument, type View } from './html.ts';
import { NOTICES, plainPage } from './layout.ts';
import {
  clearSessionCookie,
  requireCsrfToken,
  requireMember,
  sessionToken,
  setSessionCookie,
  signedInOf,
} from './session.ts';

const schema = z.object({
  email: z.string().trim().min(1, 'is missing').max(254),
  password: z.string().min(1, 'is missing').max(200),
  next: z.string().default(''),
});

/** Only a path of ours: a link must not lead elsewhere after the sign-in. */
const safeTarget = (next: string): string =>
  /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.startsWith('/sign-in') ? next : '/conversations';

/** Signing in and out. @param isHttps whether the public address is https:// */
export function signInRouter(deps: Deps, limits: AttemptLimits, isHttps: () => boolean): Router {
  const router = Router();

  router.get('/sign-in', async (request, response) => {
    const token = sessionToken(request);
    const next = typeof request.query.next === 'string' ? request.query.next : '';
    if (token !== null && (await findSession(deps, token)))
      return void response.redirect(303, safeTarget(next));
    const notice =
      typeof request.query.notice === 'string' ? NOTICES[request.query.notice] : undefined;
    response.type('html').send(renderDocument(signInPage({ values: { next }, notice })));
  });

  router.post('/sign-in', readFormBody, async (request, response) => {
    const values = formValues(request.body);
    const refuse = (status: number, problem: string) =>
      response
        .status(status)
        .type('html')
        .send(renderDocument(signInPage({ values, problem })));
    const form = parseForm(schema, values);
    if (!form.ok) return void refuse(400, 'Enter your e-mail and your password.');
    try {
      const attempt = await limits.signIn(request, normalizeEmail(form.data.email));
      const token = await signIn(deps, { ...form.data, tries: attempt.tries });
      if (token === null) return void refuse(401, 'E-mail or password is wrong.');
      await attempt.forgive();
      setSessionCookie(response, token, isHttps());
      response.redirect(303, safeTarget(form.data.next));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      noteError(response, error);
      refuse(error.status, error.message);
    }
  });

  const signedIn = [readFormBody, requireMember(deps), requireCsrfToken];
  router.post('/sign-out', signedIn, async (_request: unknown, response: Response) => {
    await endSession(deps, signedInOf(response).session.id);
    clearSessionCookie(response, isHttps());
    response.redirect(303, '/sign-in?notice=signed-out');
  });
  router.post('/sign-out-everywhere', signedIn, async (_request: unknown, response: Response) => {
    await endAllSessions(deps, signedInOf(response).member.id);
    clearSessionCookie(response, isHttps());
    response.redirect(303, '/sign-in?notice=signed-out-everywhere');
  });
  return router;
}

const signInPage = ({
  values,
  problem,
  notice,
}: {
  values: FormValues;
  problem?: string;
  notice?: string | undefined;
}): View =>
  plainPage(
    'Sign in',
    html`
      <h1>Sign in</h1>
      ${notice === undefined ? null : html`<p class="notice" role="status">${notice}</p>`}
      ${formProblem(problem)}
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value=${values.next ?? ''} />
        ${field({ name: 'email', label: 'E-mail', values, attributes: { type: 'email', required: true, autocomplete: 'username', maxlength: 254, autofocus: true } })}
        ${field({ name: 'password', label: 'Password', attributes: { type: 'password', required: true, autocomplete: 'current-password', maxlength: 200 } })}
        <button>Sign in</button>
      </form>
    `,
  );
