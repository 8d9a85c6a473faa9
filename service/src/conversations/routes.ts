import { Router } from 'express';
import { timestamp } from '../platform/clock.ts';
import { normalizeEmail } from '../platform/contactDetails.ts';
import type { Deps } from '../platform/deps.ts';
import { assignConversation } from './operations/assign.ts';
import { AppError } from '../platform/http/errorCatalogue.ts';
import {
  closeConversation,
  handBackConversation,
  takeOverConversation,
} from './operations/control.ts';
import { findConversationByContact, readConversation } from './operations/conversations.ts';
import { listConversations } from './operations/listConversations.ts';
import { listMessages } from './operations/listMessages.ts';
import { sendMessage } from './operations/sendMessage.ts';
import { setFunnelStage } from './operations/setFunnelStage.ts';
import { writeNote } from './operations/writeNote.ts';
import * as contract from './contract.ts';
import { definedOnly } from '../platform/json.ts';
import { pageFrom, pageJson } from '../platform/http/page.ts';
import { serve } from '../platform/http/serve.ts';

import { conversationJson, conversationWithMessagesJson, messageJson, noteJson } from './views.ts';

/** A time as it is stored. */
const stored = (time: string | undefined) =>
  time === undefined ? undefined : timestamp(new Date(time));

/** Conversations, for automations. */
export function conversationsRouter(deps: Deps): Router {
  const router = Router();
  addLookup(router, deps);
  addReading(router, deps);
  addMessages(router, deps);
  addControl(router, deps);
  addFiling(router, deps);
  return router;
}

function addLookup(router: Router, deps: Deps): void {
  serve(router, deps, contract.lookupContact, async ({ deps, caller, body }) => {
    const by =
      body.phone === undefined ? { email: normalizeEmail(body.email!) } : { phone: body.phone };
    const found = await findConversationByContact(deps, caller.workspace, by);
    if (found) return conversationJson(found);
    throw new AppError(
      'not_found',
      `No contact with this ${body.phone === undefined ? 'e-mail' : 'phone number'} has a conversation. Check the spelling; a phone number needs its country code.`,
    );
  });
}

function addReading(router: Router, deps: Deps): void {
  serve(router, deps, contract.listConversations, async ({ deps, caller, query }) => {
    const filter = {
      fields: definedOnly({
        status: query.status,
        channel: query.channel,
        funnelStage: query.funnel_stage,
        contactId: query.contact_id,
      }),
      q: query.q ?? '',
      createdSince: stored(query.created_since),
      createdBefore: stored(query.created_before),
      updatedSince: stored(query.updated_since),
    };
    return pageJson(
      await listConversations(deps, caller.workspace, filter, query),
      conversationJson,
    );
  });

  serve(router, deps, contract.getConversation, async ({ deps, caller, params, query }) =>
    conversationWithMessagesJson(
      await readConversation(deps, caller.workspace, params.id!, query.messages),
    ),
  );

  serve(router, deps, contract.listMessages, async ({ deps, caller, params, query }) => {
    const since = stored(query.since) ?? null;
    const found = await listMessages(deps, caller.workspace, params.id!, since, pageFrom(query));
    return pageJson(found, (message) => messageJson(message, found.contact));
  });
}

function addMessages(router: Router, deps: Deps): void {
  serve(router, deps, contract.writeNote, async ({ deps, caller, params, body }) =>
    noteJson(await writeNote(deps, caller.workspace, params.id!, body.text, caller.actor)),
  );

  serve(router, deps, contract.sendMessage, async ({ deps, caller, params, body }) => {
    const { text, pause_agent: pausesAgent } = body;
    const sent = await sendMessage(deps, caller.workspace, params.id!, text, caller.actor, {
      pausesAgent,
    });
    return {
      message: messageJson(sent.message, sent.contact),
      conversation: conversationJson(sent),
    };
  });
}

function addControl(router: Router, deps: Deps): void {
  serve(router, deps, contract.takeOverConversation, async ({ deps, caller, params }) =>
    conversationJson(await takeOverConversation(deps, caller.workspace, params.id!, caller.actor)),
  );

  serve(router, deps, contract.handBackConversation, async ({ deps, caller, params }) =>
    conversationJson(await handBackConversation(deps, caller.workspace, params.id!, caller.actor)),
  );

  serve(router, deps, contract.closeConversation, async ({ deps, caller, params, body }) =>
    conversationJson(
      await closeConversation(deps, caller.workspace, params.id!, { ...body, actor: caller.actor }),
    ),
  );
}

/** A conversation's funnel stage and its assignee. */
function addFiling(router: Router, deps: Deps): void {
  serve(router, deps, contract.updateConversation, async ({ deps, caller, params, body }) =>
    conversationJson(
      await setFunnelStage(deps, caller.workspace, params.id!, body.funnel_stage, caller.actor),
    ),
  );

  serve(router, deps, contract.assignConversation, async ({ deps, caller, params, body }) => {
    const { workspace, actor } = caller;
    return conversationJson(
      await assignConversation(deps, workspace, params.id!, body.member_id, actor),
    );
  });
}
