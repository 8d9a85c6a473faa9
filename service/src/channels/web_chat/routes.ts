import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { AppError, notFound } from '../../platform/http/errorCatalogue.ts';
import { findWorkspace } from '../../team/index.ts';
import { listChatMessages, startChatSession } from './chatOperations.ts';
import { receiveMessage } from '../../conversations/index.ts';
import { pageOf, pageFrom, pageJson } from '../../platform/http/page.ts';
import { visitorOf } from './requireChatToken.ts';
import * as contract from './contract.ts';
import { serve } from '../../platform/http/serve.ts';
import { chatMessageJson } from './views.ts';

/** Starts sessions: the only chat route without a token. */
export function chatSessionsRouter(deps: Deps): Router {
  const router = Router();
  serve(router, deps, contract.startChatSession, async ({ deps, body }) => {
    const workspace = await findWorkspace(deps, body.workspace);
    if (!workspace && body.workspace === undefined) {
      throw new AppError(
        'not_found',
        'The service has no workspace yet. Set it up with the link that it printed when it started.',
      );
    }
    if (!workspace) throw notFound('workspace', body.workspace!);
    deps.assertRoom('visitor', workspace.id);
    const claims = {
      name: body.name ?? null,
      email: body.email ?? null,
      phone: body.phone ?? null,
    };
    const { token, contact } = await startChatSession(deps, workspace, claims);
    return { token, contact_id: contact.id };
  });
  return router;
}

/** What a visitor with a token can do. The live stream is in stream.ts. */
export function chatMessagesRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, contract.sendChatMessage, async ({ deps, caller, body }) => {
    const { text, client_message_id: channelMessageId } = body;
    const message = await receiveMessage(deps, caller.workspace, visitorOf(caller).id, {
      text,
      channelMessageId,
    });
    return { conversation_id: message.conversationId, message_id: message.id };
  });

  serve(router, deps, contract.listChatMessages, async ({ deps, caller, query }) =>
    pageJson(
      await pageOf(pageFrom(query), ({ limit, after }) =>
        listChatMessages(deps, visitorOf(caller).id, after?.id ?? null, limit),
      ),
      chatMessageJson,
    ),
  );

  return router;
}
