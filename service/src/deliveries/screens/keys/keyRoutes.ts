import type { Response, Router } from 'express';
import type { Deps } from '../../../platform/deps.ts';
import { AppError } from '../../../platform/http/errorCatalogue.ts';
import {
  changeApiKey,
  createApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  signedInOf,
  workspaceOf,
  type ApiKey,
} from '../../../team/index.ts';
import { listReveals } from '../../../conversations/index.ts';
import { parseCursor } from '../../../platform/http/page.ts';
import { onceForForm } from '../../../platform/html/formOnce.ts';
import { readForm, type FormState, type FormValues } from '../../../platform/html/forms.ts';
import { sendPage, sendPart } from '../../../platform/html/html.ts';
import { newFormToken } from '../../../platform/security/tokens.ts';
import type { KeysPageExtras } from '../keysPage.ts';
import { newKeyView } from '../shownOnce.ts';
import { apiKeysList } from './apiKeysList.ts';
import { parseKeyChanges, parseNewKey } from './keyForm.ts';
import { keyPage } from './keyPage.ts';
import { revealsPage } from './revealsPage.ts';

const REVEALS_PAGE = 100;

/** Answers with the whole screen of keys and subscriptions. */
export type Show = (response: Response, status: number, extras: KeysPageExtras) => Promise<void>;

/** The form that creates a key. The key is shown only in the answer to the POST that created it. */
export function addNewKey(router: Router, deps: Deps, show: Show, publicUrl: () => string): void {
  router.post('/keys', async (request, response) => {
    const { workspace, member } = signedInOf(response);
    const values = readForm(request);
    const form = parseNewKey(values, deps.clock.now());
    if (!form.ok) return show(response, 400, { keyForm: form });
    try {
      let made: { key: string; apiKey: ApiKey } | null = null;
      const id = await onceForForm(deps, workspace, formOf(values), async (within) => {
        made = await createApiKey(within, workspace, { ...form.data, createdBy: member.name });
        return made.apiKey.id;
      });
      const { key, apiKey } = (made as { key: string; apiKey: ApiKey } | null) ?? {};
      if (key === undefined || apiKey?.id !== id)
        return response.redirect(303, `/keys/${id}?notice=key-made-before`);
      await show(response, 201, { shownOnce: newKeyView(key, apiKey, publicUrl()) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const keyForm = { values, problems: { name: error.message } };
      await show(response, error.status, { keyForm });
    }
  });
}

/** What two posts of the same form have in common: its token and everything that was entered. */
const formOf = ({ csrf: _, form = newFormToken(), ...entered }: FormValues) => [
  'api-key',
  form,
  Object.entries(entered).sort(),
];

/** One key: its page, and the forms that change and revoke it. */
export function addKeys(router: Router, deps: Deps): void {
  router.get('/keys/live/api-keys', async (_request, response) => {
    const signedIn = signedInOf(response);
    const apiKeys = await listApiKeys(deps, signedIn.workspace);
    sendPart(response, apiKeysList(signedIn, apiKeys, deps.clock.now()));
  });

  router.get('/keys/:id/reveals', async ({ params, query }, response) => {
    const signedIn = signedInOf(response);
    const apiKey = await getApiKey(deps, signedIn.workspace, params.id);
    const cursor = parseCursor(typeof query.after === 'string' ? query.after : undefined);
    const reveals = await listReveals(deps, apiKey.id, { limit: REVEALS_PAGE, cursor });
    const page = { ...reveals, isFirst: cursor === null };
    sendPage(response, revealsPage(signedIn, apiKey, page, deps.clock.now()));
  });

  router.post('/keys/:id/revoke', async ({ params }, response) => {
    await revokeApiKey(deps, workspaceOf(response), params.id);
    response.redirect(303, '/keys?notice=key-revoked');
  });

  const showKey = async (
    response: Response,
    id: string,
    { status = 200, ...extras }: { status?: number; notice?: unknown; form?: FormState },
  ) => {
    const signedIn = signedInOf(response);
    const apiKey = await getApiKey(deps, signedIn.workspace, id);
    const page = keyPage(signedIn, apiKey, { now: deps.clock.now(), ...extras });
    sendPage(response, page, status);
  };

  router.get('/keys/:id', ({ params, query }, response) =>
    showKey(response, params.id, { notice: query.notice }),
  );

  router.post('/keys/:id/edit', async (request, response) => {
    const { id } = request.params;
    const values = readForm(request);
    const form = parseKeyChanges(values, deps.clock.now());
    if (!form.ok) return showKey(response, id, { status: 400, form });
    try {
      await changeApiKey(deps, workspaceOf(response), id, form.data);
      response.redirect(303, `/keys/${id}?notice=saved`);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error;
      const refused = { values, problems: { expires: error.message } };
      await showKey(response, id, { status: error.status, form: refused });
    }
  });

  // A page that answered a POST has the form's address. Opening it leads back to the key.
  router.get('/keys/:id/edit', ({ params }, response) =>
    response.redirect(303, `/keys/${encodeURIComponent(params.id)}`),
  );
}
