import { type Request, Router } from 'express';
import { z } from 'zod';
import { peekConversation } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { parseForm, readForm } from '../../platform/html/forms.ts';
import { sendPart } from '../../platform/html/html.ts';
import { signedInOf } from '../../team/index.ts';
import { DOINGS } from './presence.ts';
import { findPresent, notePresence } from './presences.ts';
import { presenceFragment } from './presenceView.ts';

const doingSchema = z.object({ doing: z.enum(DOINGS) });

/** Who of the team has a conversation open, and who writes there. */
export function presenceRouter(deps: Deps): Router {
  const router = Router();
  router.get('/conversations/:id/presence', async (request, response) => {
    const { workspace, member } = signedInOf(response);
    const { id } = request.params;
    const present = await deps.store.transaction(async (tx) => {
      await peekConversation(tx, workspace, id);
      return findPresent(tx, id, member.id, deps.clock.now());
    });
    sendPart(response, presenceFragment(present));
  });
  router.post('/conversations/:id/presence', async (request: Request<{ id: string }>, response) => {
    const form = parseForm(doingSchema, readForm(request));
    if (!form.ok) return void response.status(400).end();
    await notePresence(deps, signedInOf(response), request.params.id, form.data.doing);
    response.status(204).end();
  });
  return router;
}
