import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../../platform/deps.ts';
import { csrfField } from '../../platform/html/components.ts';
import { isError } from '../../platform/html/errorPage.ts';
import { parseForm, readForm } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import type { Viewer } from '../../platform/html/viewer.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { actorOf, signedInOf } from '../../team/index.ts';
import { decideWait, MAX_WAIT_NOTE_CHARACTERS } from '../index.ts';

interface DecisionButton {
  readonly label: string;
  /** What the button says about itself beside its label. */
  readonly attributes: Readonly<Record<string, string>>;
}

interface DecisionFormParts {
  /** Of what is decided. */
  readonly id: string;
  /** Where the decision is posted. */
  readonly action: string;
  readonly approve: DecisionButton;
  readonly reject: DecisionButton;
  readonly note: { readonly id: string; readonly label: string };
}

/**
 * Asks a member to approve or reject, with a note. The note is a textarea: Enter in a one-line field
 * would approve.
 */
export const decisionForm = (
  signedIn: Viewer,
  { id, action, approve, reject, note }: DecisionFormParts,
): View => html`
  <form method="post" action=${action} class="decide beside" hx-sync="this:drop">
    ${csrfField(signedIn)}
    <div class="row">
      <button id=${`approve-${id}`} name="verdict" value="approve" ...${approve.attributes}>
        ${approve.label}
      </button>
      <button
        id=${`reject-${id}`}
        name="verdict"
        value="reject"
        class="secondary"
        ...${reject.attributes}
      >
        ${reject.label}
      </button>
    </div>
    <div class="reason">
      <label for=${note.id}>${note.label}</label>
      <textarea
        id=${note.id}
        name="note"
        rows="1"
        maxlength=${MAX_WAIT_NOTE_CHARACTERS}
        dir="auto"
      ></textarea>
    </div>
  </form>
`;

/** What a card posts: one of its two buttons, and a note that may stay empty. */
export const decisionSchema = z.object({
  verdict: z.enum(['approve', 'reject'], 'must be chosen'),
  note: z
    .string()
    .default('')
    .transform((text) => (text.trim() === '' ? null : text.trim()))
    .pipe(textSchema(MAX_WAIT_NOTE_CHARACTERS).nullable()),
});

/**
 * Records the decision of a posted card.
 * @param conversationId the conversation whose page posted the card; undefined for other pages
 * @returns the notice for the next page; undefined when the card says it all
 */
export async function decideByForm(
  deps: Deps,
  request: Pick<Request, 'body'>,
  response: Response,
  id: string,
  conversationId?: string,
): Promise<string | undefined> {
  const signedIn = signedInOf(response);
  const form = parseForm(decisionSchema, readForm(request));
  if (!form.ok) return 'decision-refused';
  const { verdict, note } = form.data;
  const decision = { approved: verdict === 'approve', by: actorOf(signedIn), note };
  try {
    await decideWait(deps, signedIn.workspace, id, decision, conversationId);
    return undefined;
  } catch (error) {
    if (isError(error, 'wait_ended')) return 'wait-ended';
    throw error;
  }
}
