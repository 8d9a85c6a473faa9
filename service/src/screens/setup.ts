import { Router } from 'express';
import { z } from 'zod';
import { textSchema } from '../http/contract/shared.ts';
import type { AttemptLimits } from './attempts.ts';
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
import { plainPage } from './layout.ts';
import { setSessionCookie } from './session.ts';

/** The one-time link of the first start. */
export interface Setup {
  isValid(token: string): Promise<boolean>;
  /** The workspace that a key made on the command line has made already; null on an empty store. */
  workspaceName(): Promise<string | null>;
  /**
   * @returns the first API key and the first member's session, or null when the link was used
   * already
   */
  complete(
    token: string,
    setup: { workspaceName: string; memberName: string; email: string; password: string },
  ): Promise<{ key: string; sessionToken: string } | null>;
}

export const MIN_PASSWORD_CHARACTERS = 10;

export const passwordSchema = z
  .string()
  .min(MIN_PASSWORD_CHARACTERS, `must have at least ${MIN_PASSWORD_CHARACTERS} characters`)
  .max(200, 'must have at most 200 characters');
/** Who a new member is. */
export const newMemberSchema = z.object({
  name: textSchema(100),
  email: z.email('must be an e-mail address').max(254, 'must have at most 254 characters'),
  password: passwordSchema,
});

export const newMemberFields = (values: FormValues, problems: Problems): View => html`
  ${field({ name: 'name', label: 'Your name', values, problems, help: 'Customers see it beside what you write.', attributes: { required: true, maxlength: 100, autocomplete: 'name' } })}
  ${field({ name: 'email', label: 'Your e-mail', values, problems, attributes: { type: 'email', required: true, maxlength: 254, autocomplete: 'username' } })}
  ${field({ name: 'password', label: 'A password', problems, help: `At least ${MIN_PASSWORD_CHARACTERS} characters.`, attributes: { type: 'password', required: true, minlength: MIN_PASSWORD_CHARACTERS, maxlength: 200, autocomplete: 'new-password' } })}
`;

/**
 * Makes the first team member, workspace and API key. Works once, without any script. @param
 * publicUrl the service's address as others see it
 */
export function setupRouter(setup: Setup, limits: AttemptLimits, publicUrl: () => string): Router {
  const router = Router();

  router.get('/setup', async (request, response) => {
    const token = typeof request.query.token === 'string' ? request.query.token : '';
    if (await setup.isValid(token))
      response.type('html').send(renderDocument(formPage(token, await setup.workspaceName())));
    else response.status(404).type('html').send(renderDocument(usedUp));
  });

  router.post('/setup', readFormBody, async (request, response) => {
    const attempt = await limits.useLink(request);
    const values = formValues(request.body);
    const token = values.token ?? '';
    if (!(await setup.isValid(token)))
      return void response.status(404).type('html').send(renderDocument(usedUp));
    const existing = await setup.workspaceName();
    const form = parseForm(
      newMemberSchema.extend({
        workspace: existing === null ? textSchema(100) : z.string().optional(),
      }),
      values,
    );
    if (!form.ok)
      return void response
        .status(400)
        .type('html')
        .send(renderDocument(formPage(token, existing, values, form.problems)));
    const { workspace, name, email, password } = form.data;
    const made = await setup.complete(token, {
      workspaceName: workspace ?? '',
      memberName: name,
      email,
      password,
    });
    if (made === null) return void response.status(404).type('html').send(renderDocument(usedUp));
    await attempt.forgive();
    setSessionCookie(response, made.sessionToken, publicUrl().startsWith('https://'));
    response
      .status(201)
      .type('html')
      .send(renderDocument(donePage(made.key, publicUrl())));
  });

  return router;
}

const usedUp = plainPage(
  'This link does not work',
  html`
    <h1>This link does not work</h1>
    <p>The set-up link works once, for the first person of the team. If the service has not been set up yet, start it again and use the link that it prints.</p>
    <p><a href="/sign-in">Sign in</a></p>
  `,
);

const formPage = (
  token: string,
  existingWorkspace: string | null,
  values: FormValues = {},
  problems: Problems = {},
): View =>
  plainPage(
    'Set up Conversation Service',
    html`
      <h1>Set up Conversation Service</h1>
      ${formProblem(Object.keys(problems).length > 0 ? 'Correct what is marked below.' : undefined)}
      <form method="post" action="/setup">
        <input type="hidden" name="token" value=${token} />
        ${
          existingWorkspace === null
            ? field({
                name: 'workspace',
                label: 'Name of the workspace',
                values,
                problems,
                attributes: { required: true, maxlength: 100, autofocus: true },
              })
            : html`<p>You join the workspace <strong>${existingWorkspace}</strong>.</p>`
        }
        ${newMemberFields(values, problems)}
        <button>Set up and show the API key</button>
      </form>
    `,
  );

const donePage = (key: string, baseUrl: string): View =>
  plainPage(
    'Ready',
    html`
      <h1>Ready</h1>
      <p>This is the API key for n8n. It is shown this once; copy it now:</p>
      <p><code id="key">${key}</code> <button class="small" type="button" data-copy="#key">Copy</button></p>
      <p>In n8n, make a credential “Conversation Service API” with this key and this base URL:</p>
      <p><code id="base-url">${baseUrl}</code> <button class="small" type="button" data-copy="#base-url" aria-label="Copy the base URL">Copy</button></p>
      <p><a role="button" href="/conversations">Go to the conversations</a></p>
    `,
  );
