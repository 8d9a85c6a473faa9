import { Router, type Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { backLink, csrfField, postButton } from '../../platform/html/components.ts';
import {
  field,
  formProblems,
  newForm,
  parseForm,
  readForm,
  textArea,
  type FormState,
} from '../../platform/html/forms.ts';
import { html, sendPage, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import {
  MAX_NAME_CHARACTERS,
  MAX_TEXT_CHARACTERS,
  PLACEHOLDERS,
  SHORTCUT,
  unknownMarks,
  type CannedReply,
} from '../cannedReplies/cannedReply.ts';
import {
  changeCannedReply,
  createCannedReply,
  getCannedReply,
  listCannedReplies,
  removeCannedReply,
} from '../cannedReplies/operations.ts';
import type { SignedIn } from '../operations/sessions.ts';
import { signedInOf } from '../signedIn.ts';

const PATH = '/settings/canned-replies';

const schema = z.object({
  name: textSchema(MAX_NAME_CHARACTERS),
  shortcut: z
    .string()
    .trim()
    .transform((text) => text.replace(/^\//, '').toLowerCase())
    .refine((text) => SHORTCUT.test(text), {
      message: 'must have 1 to 32 letters (a–z), digits and hyphens, and not begin with a hyphen',
    }),
  text: textSchema(MAX_TEXT_CHARACTERS).superRefine((text, context) => {
    const [unknown] = unknownMarks(text);
    if (unknown !== undefined)
      context.addIssue({
        code: 'custom',
        message: `${unknown} cannot be filled in. Use a placeholder from the list`,
      });
  }),
});

/** The texts that the team sends often. */
export function cannedRepliesRouter(deps: Deps): Router {
  const router = Router();

  const showList = async (response: Response, extras: { notice?: unknown; form?: FormState }) => {
    const signedIn = signedInOf(response);
    const replies = await deps.store.transaction((tx) => listCannedReplies(tx, signedIn.workspace));
    sendPage(response, listPage(signedIn, { replies, ...extras }));
  };
  const read = (response: Response, id: string) =>
    deps.store.transaction((tx) => getCannedReply(tx, signedInOf(response).workspace, id));

  router.get(PATH, ({ query }, response) => showList(response, { notice: query.notice }));

  router.post(PATH, async (request, response) => {
    const refuse = (form: FormState) => showList(response.status(400), { form });
    const form = parseForm(schema, readForm(request));
    if (!form.ok) return refuse(form);
    const { workspace } = signedInOf(response);
    const problem = await problemOf(() => createCannedReply(deps, workspace, form.data));
    if (problem) return refuse({ values: readForm(request), problems: problem });
    response.redirect(303, `${PATH}?notice=saved`);
  });

  router.get(`${PATH}/:id`, async ({ params }, response) =>
    sendPage(response, editPage(signedInOf(response), await read(response, params.id))),
  );

  router.post(`${PATH}/:id`, async (request, response) => {
    const { id } = request.params;
    const refuse = async (form: FormState) =>
      sendPage(response, editPage(signedInOf(response), await read(response, id), form), 400);
    const form = parseForm(schema, readForm(request));
    if (!form.ok) return refuse(form);
    const { workspace } = signedInOf(response);
    const problem = await problemOf(() => changeCannedReply(deps, workspace, id, form.data));
    if (problem) return refuse({ values: readForm(request), problems: problem });
    response.redirect(303, `${PATH}?notice=saved`);
  });

  router.post(`${PATH}/:id/remove`, async ({ params }, response) => {
    await removeCannedReply(deps, signedInOf(response).workspace, params.id);
    response.redirect(303, `${PATH}?notice=removed`);
  });

  return router;
}

/** @returns what is wrong with the form; null when it was accepted */
async function problemOf(act: () => Promise<unknown>): Promise<FormState['problems'] | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error;
    return { [error.details.param ?? '']: error.message };
  }
}

const listPage = (
  signedIn: SignedIn,
  {
    replies,
    notice,
    form = newForm(),
  }: { replies: readonly CannedReply[]; notice?: unknown; form?: FormState },
): View =>
  teamPage(
    signedIn,
    { title: 'Canned replies', section: 'settings', notice },
    html`
      ${backLink('/settings', 'Settings')}
      <h1>Canned replies</h1>
      <p class="muted">Texts that your team sends often. In a conversation, type <kbd>/</kbd> at the beginning of a reply to find one.</p>
      ${
        replies.length === 0
          ? html`<p class="empty">No canned replies yet. Write the first one below.</p>`
          : repliesView(signedIn, replies)
      }
      <section class="block" aria-labelledby="new-title">
        <h2 id="new-title">New canned reply</h2>
        ${replyForm(signedIn, PATH, form, 'Create')}
      </section>
    `,
  );

const repliesView = (signedIn: SignedIn, replies: readonly CannedReply[]): View => html`
  <ul class="bare canned-replies">
    ${replies.map(
      ({ id, name, shortcut, text }) => html`
        <li id=${id}>
          <p class="canned-name"><b dir="auto">${name}</b> <code>/${shortcut}</code></p>
          <p class="text" dir="auto">${text}</p>
          <div class="row">
            <a
              role="button"
              class="small secondary outline"
              href=${`${PATH}/${id}`}
              aria-label=${`Edit ${name}`}
            >
              Edit
            </a>
            ${postButton(signedIn, {
              action: `${PATH}/${id}/remove`,
              label: 'Remove',
              confirm: `Remove the canned reply “${name}”?`,
              button: { class: 'small secondary outline', 'aria-label': `Remove ${name}` },
              form: { class: 'inline' },
            })}
          </div>
        </li>
      `,
    )}
  </ul>
`;

const editPage = (
  signedIn: SignedIn,
  { id, name, shortcut, text }: CannedReply,
  form = newForm({ name, shortcut, text }),
): View =>
  teamPage(
    signedIn,
    { title: name, section: 'settings' },
    html`
      ${backLink(PATH, 'Canned replies')}
      <h1>Edit canned reply</h1>
      ${replyForm(signedIn, `${PATH}/${id}`, form, 'Save')}
    `,
  );

const replyForm = (
  signedIn: SignedIn,
  action: string,
  form: FormState,
  label: string,
): View => html`
  <form method="post" action=${action} class="narrow-form">
    ${formProblems(form)}
    ${csrfField(signedIn)}
    ${field({
      name: 'name',
      label: 'Name',
      form,
      attributes: { required: true, maxlength: MAX_NAME_CHARACTERS, dir: 'auto' },
    })}
    ${field({
      name: 'shortcut',
      label: 'Shortcut',
      form,
      help: 'Letters, digits and hyphens: “opening-hours” is found with /opening-hours, or with its beginning.',
      attributes: { required: true, maxlength: 33, autocapitalize: 'none', autocomplete: 'off' },
    })}
    ${textArea({
      name: 'text',
      label: 'Text',
      form,
      help: placeholderHelp,
      attributes: { required: true, maxlength: MAX_TEXT_CHARACTERS, rows: 5, dir: 'auto' },
    })}
    <button>${label}</button>
  </form>
`;

const placeholderHelp: View = html`
  Filled in for each customer:${Object.entries(PLACEHOLDERS).map(
    ([name, meaning], index) =>
      html`<span>${index === 0 ? ' ' : ', '}<code>${`{{${name}}}`}</code> (${meaning})</span>`,
  )}. After a bar, write the word to use when it is not known: <code>${'{{customer_first_name|there}}'}</code>.
`;
