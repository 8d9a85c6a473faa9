import { Router } from 'express';
import { z } from 'zod';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { DEFAULT_N8N_PORT, originOnThisMachine } from '../n8nAddress.ts';
import { isThisMachine } from '../../platform/outbound/hostOpening.ts';
import type { N8nSetting } from '../n8nSetting.ts';
import type { AttemptLimits } from './signInAttempts.ts';
import { copyable } from '../../platform/html/components.ts';
import {
  field,
  formProblems,
  newForm,
  parseForm,
  readForm,
  readPublicFormBody,
  type FormState,
  type Problems,
} from '../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { plainPage } from '../../platform/html/layout.ts';
import { n8nFields, n8nFormValues, readN8nChoice } from './n8nFields.ts';
import { setSessionCookie } from '../signedIn.ts';
import { deadLinkPage } from './signIn.ts';
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, passwordSchema } from '../password.ts';

/** The one-time link of the first start. */
export interface Setup {
  /** Whether a link's token can still be used. */
  isValid(token: string): Promise<boolean>;
  /**
   * The workspace, if the command line or a BOOTSTRAP variable has created one; null on an empty
   * store.
   */
  workspaceName(): Promise<string | null>;
  /**
   * Creates the workspace, its first member and its first API key.
   * @returns the key and the member's session; null when the link is already used
   * @throws invalid_request (400) when a member of another workspace has the e-mail
   */
  complete(
    token: string,
    setup: {
      workspaceName: string;
      memberName: string;
      email: string;
      password: string;
      /** Where n8n runs, as `origin` in `N8nAddress`; undefined when nothing was chosen. */
      n8nOrigin: string | null | undefined;
    },
  ): Promise<{ key: string; sessionToken: string } | null>;
}

export const newMemberSchema = z.object({
  name: textSchema(100),
  email: z.email('must be an email address').max(254, 'must have at most 254 characters'),
  password: passwordSchema,
});

export const newPasswordField = (name: string, label: string, form: FormState): View =>
  field({
    name,
    label,
    form: { ...form, values: {} },
    help: `At least ${MIN_PASSWORD_CHARACTERS} characters.`,
    attributes: {
      type: 'password',
      required: true,
      minlength: MIN_PASSWORD_CHARACTERS,
      maxlength: MAX_PASSWORD_CHARACTERS,
      autocomplete: 'new-password',
    },
  });

export const newMemberFields = (form: FormState): View => html`
  ${field({
    name: 'name',
    label: 'Your name',
    form,
    help: 'Customers see it next to your messages.',
    attributes: { required: true, maxlength: 100, autocomplete: 'name' },
  })}
  ${field({
    name: 'email',
    label: 'Your email',
    form,
    attributes: { type: 'email', required: true, maxlength: 254, autocomplete: 'username' },
  })}
  ${newPasswordField('password', 'Password', form)}
`;

/**
 * Creates the first member, workspace and API key, and asks where n8n runs. Works once, and without
 * scripts.
 * @param publicUrl the service's public URL
 */
export function setupRouter(
  setup: Setup,
  n8n: Pick<N8nSetting, 'check' | 'fromEnvironment'>,
  limits: AttemptLimits,
  publicUrl: () => string,
): Router {
  const router = Router();
  const asksForN8n = n8n.fromEnvironment === null;

  router.get('/setup', async ({ query }, response) => {
    const token = typeof query.token === 'string' ? query.token : '';
    if (!(await setup.isValid(token))) return sendPage(response, usedLinkPage, 404);
    const form = newForm(n8nFormValues(isLocal(publicUrl()) ? ON_THIS_MACHINE : null));
    sendPage(response, setupPage(token, await setup.workspaceName(), asksForN8n, form));
  });

  router.post('/setup', readPublicFormBody, async (request, response) => {
    const attempt = await limits.useLink(request);
    const values = readForm(request);
    const token = values.token ?? '';
    if (!(await setup.isValid(token))) return sendPage(response, usedLinkPage, 404);
    const existing = await setup.workspaceName();
    const workspace = existing === null ? textSchema(100) : z.string().optional();
    const form = parseForm(newMemberSchema.extend({ workspace }), values);
    const choice =
      asksForN8n && values.n8n !== undefined ? await readN8nChoice(n8n, values) : NO_CHOICE;
    const refuse = (problems: Problems) =>
      sendPage(response, setupPage(token, existing, asksForN8n, { values, problems }), 400);
    if (!form.ok || !choice.ok)
      return refuse({ ...(form.ok ? {} : form.problems), ...(choice.ok ? {} : choice.problems) });
    try {
      const created = await setup.complete(token, {
        workspaceName: form.data.workspace ?? '',
        memberName: form.data.name,
        email: form.data.email,
        password: form.data.password,
        n8nOrigin: choice.data,
      });
      if (created === null) return sendPage(response, usedLinkPage, 404);
      await attempt.forgive();
      setSessionCookie(response, created.sessionToken, publicUrl().startsWith('https://'));
      sendPage(response, readyPage(created.key, publicUrl()), 201);
    } catch (error) {
      if (!(error instanceof AppError) || error.details.param !== 'email') throw error;
      refuse({ email: error.message });
    }
  });

  return router;
}

/** A program may leave the question out. It can be answered later, under Settings. */
const NO_CHOICE = { ok: true, data: undefined } as const;

const ON_THIS_MACHINE = originOnThisMachine(DEFAULT_N8N_PORT);

/** On a service that only its own machine reaches, n8n is most likely there too. */
const isLocal = (publicUrl: string): boolean => isThisMachine(new URL(publicUrl));

const usedLinkPage = deadLinkPage(
  'A setup link works once. If the service has not been set up yet, restart it and use the link that it prints.',
);

const setupPage = (
  token: string,
  existingWorkspace: string | null,
  asksForN8n: boolean,
  form: FormState,
): View =>
  plainPage(
    'Set up Conversation Service',
    html`
      <h1>Set up Conversation Service</h1>
      ${formProblems(form)}
      <form method="post" action="/setup">
        <input type="hidden" name="token" value=${token} />
        ${
          existingWorkspace === null
            ? field({
                name: 'workspace',
                label: 'Workspace name',
                form,
                attributes: { required: true, maxlength: 100, autofocus: true },
              })
            : html`<p>You are joining the workspace <strong>${existingWorkspace}</strong>.</p>`
        }
        ${newMemberFields(form)}
        ${asksForN8n ? n8nFields(form) : null}
        <button>Set up and show the API key</button>
      </form>
    `,
  );

const readyPage = (key: string, baseUrl: string): View =>
  plainPage(
    'Ready',
    html`
      <h1>Ready</h1>
      <p>This is your API key for n8n. Copy it now. You won’t be able to see it again.</p>
      <p>${copyable('key', key, 'the API key')}</p>
      <p>The base URL for n8n:</p>
      <p>${copyable('base-url', baseUrl, 'the base URL')}</p>
      <h2>Your first event</h2>
      <ol>
        <li>
          In a new workflow of n8n, search for <strong>Conversation Service</strong> and choose
          <strong>On message received</strong>.
        </li>
        <li>Connect to Conversation Service: paste the API key and save.</li>
        <li>Press <strong>Execute step</strong>.</li>
        <li>Write a message on the <a href="/chat" target="_blank">chat page</a>.</li>
      </ol>
      <p>Or start with one of the <a href="/examples" target="_blank">example workflows</a>.</p>
      <p><a role="button" href="/conversations">Go to conversations</a></p>
    `,
  );
