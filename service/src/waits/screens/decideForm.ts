import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../../platform/deps.ts';
import { isError } from '../../platform/html/errorPage.ts';
import { parseForm, readForm } from '../../platform/html/forms.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { actorOf, signedInOf } from '../../team/index.ts';
import { decideWait, MAX_WAIT_NOTE_CHARACTERS } from '../index.ts';

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
