import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import {
  forgetContact,
  MAX_CONTACT_NAME_CHARACTERS,
  readForgetPreview,
  readForgotten,
  renameContact,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { onceForForm } from '../../platform/html/formOnce.ts';
import { type FormState, parseForm, readForm } from '../../platform/html/forms.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { maskReferences } from '../../payments/index.ts';
import { actorOf, isOwner, signedInOf } from '../../team/index.ts';
import { placeOf, threadHref } from '../links.ts';
import { goBack } from '../threadParts.ts';
import { contactPage } from './contactPage.ts';
import { forgottenFragment, forgottenPage, type ForgottenPage } from './forgottenPage.ts';

type OfConversation = Request<{ id: string }>;

/** An empty name brings back the channel's. */
const nameSchema = z.object({
  name: z
    .string()
    .transform((name) => name.trim() || null)
    .pipe(textSchema(MAX_CONTACT_NAME_CHARACTERS).nullable()),
});

/** A contact's page, where it is renamed or forgotten, and the page of what was removed then. */
export function contactRouter(deps: Deps): Router {
  const router = Router();
  addName(router, deps);
  addForgetting(router, deps);
  addForgotten(router, deps);
  return router;
}

function addName(router: Router, deps: Deps): void {
  const show = async (request: OfConversation, response: Response, form?: FormState) => {
    const signedIn = signedInOf(response);
    const { id } = request.params;
    const page = contactPage(signedIn, {
      conversationId: id,
      place: placeOf(request),
      preview: await readForgetPreview(deps, signedIn.workspace, id),
      mayForget: isOwner(signedIn.member),
      notice: request.query.notice,
      ...(form && { form }),
    });
    sendPage(response, page);
  };

  router.get('/conversations/:id/contact', (request, response) => show(request, response));

  router.post('/conversations/:id/contact', async (request: OfConversation, response) => {
    const form = parseForm(nameSchema, readForm(request));
    if (!form.ok) return show(request, response.status(400), form);
    const { workspace } = signedInOf(response);
    await renameContact(deps, workspace, request.params.id, form.data.name);
    goBack(request, response, 'contact-saved');
  });
}

function addForgetting(router: Router, deps: Deps): void {
  router.post('/conversations/:id/forget', async (request: OfConversation, response) => {
    const signedIn = signedInOf(response);
    const { workspace, member } = signedIn;
    const { id } = request.params;
    const isSure = readForm(request).sure === 'on';
    if (!isOwner(member) || !isSure) {
      const notice = isSure ? 'forget-not-allowed' : 'forget-not-confirmed';
      return response.redirect(303, threadHref(id, placeOf(request), { notice }, '/contact'));
    }
    // On a second click the contact can no longer be read: its id is what the first click returned.
    const contactId = await onceForForm(deps, workspace, ['forget', id], async (within) => {
      const { contact } = await readForgetPreview(within, workspace, id);
      await forgetContact(within, workspace, contact.id, actorOf(signedIn));
      await maskReferences(within, contact);
      return contact.id;
    });
    response.redirect(303, `/contacts/${contactId}/forgotten`);
  });
}

function addForgotten(router: Router, deps: Deps): void {
  const read = async (request: Request<{ id: string }>, response: Response) => {
    const { id: contactId } = request.params;
    const { workspace } = signedInOf(response);
    const forgetting = await readForgotten(deps, workspace, contactId);
    return { contactId, forgetting, now: deps.clock.now() } satisfies ForgottenPage;
  };

  router.get('/contacts/:id/forgotten', async (request, response) =>
    sendPage(response, forgottenPage(signedInOf(response), await read(request, response))),
  );

  router.get('/contacts/:id/forgotten/list', async (request, response) =>
    sendPart(response, forgottenFragment(await read(request, response))),
  );
}
