import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { ownerFrom } from '../../platform/http/ownerView.ts';
import { pageFrom, pageJson } from '../../platform/http/page.ts';
import { definedOnly } from '../../platform/json.ts';
import { serve } from '../../platform/http/serve.ts';
import { TEST_CONVERSATION_ID } from '../../tools/index.ts';
import { answerTurn } from './operations/answerTurn.ts';
import { getTurn, listTurns } from './operations/turns.ts';
import { publishWebhook, unpublishWebhook } from './operations/publishWebhook.ts';
import { listenForTest, stopListening } from './operations/testWebhook.ts';
import * as contract from './contract.ts';
import * as publishing from './publishingContract.ts';
import { answeredTurnJson, publishedWebhookJson, turnJson } from './views.ts';

/** The turns of the workflow that is the agent, and what it answers in them. */
export function agentTurnsRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, contract.listAgentTurns, async ({ deps, caller, query }) => {
    const { status, conversation_id: id } = query;
    const conversationId = id === TEST_CONVERSATION_ID ? null : id;
    const filter = definedOnly({ status, conversationId });
    return pageJson(await listTurns(deps, caller.workspace, filter, pageFrom(query)), turnJson);
  });

  serve(router, deps, contract.getAgentTurn, async ({ deps, caller, params }) =>
    turnJson(await getTurn(deps, caller.workspace, params.id!)),
  );

  serve(router, deps, contract.replyInTurn, async ({ deps, caller, params, body }) => {
    const texts = body.texts ?? [body.text!];
    const then = { type: body.more_follows ? 'go_on' : 'end' } as const;
    return answeredTurnJson(await answerTurn(deps, caller.workspace, params.id!, { texts, then }));
  });

  serve(router, deps, contract.handOverInTurn, async ({ deps, caller, params, body }) => {
    const { reason, note = null } = body;
    const answer = { texts: textsOf(body), then: { type: 'hand_over', reason, note } } as const;
    return answeredTurnJson(await answerTurn(deps, caller.workspace, params.id!, answer));
  });

  serve(router, deps, contract.closeInTurn, async ({ deps, caller, params, body }) => {
    const { verdict, summary } = body;
    const answer = { texts: textsOf(body), then: { type: 'close', verdict, summary } } as const;
    return answeredTurnJson(await answerTurn(deps, caller.workspace, params.id!, answer));
  });

  serve(router, deps, contract.endAgentTurn, async ({ deps, caller, params }) => {
    const nothing = { texts: [], then: { type: 'end' } } as const;
    return answeredTurnJson(await answerTurn(deps, caller.workspace, params.id!, nothing));
  });

  return router;
}

const textsOf = ({ text }: { readonly text?: string | undefined }): readonly string[] =>
  text === undefined ? [] : [text];

/** Publishing and unpublishing a workflow as the agent, and listening for a test event. */
export function agentWebhookRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, publishing.publishWebhook, async ({ deps, caller, body }) => {
    const published = await publishWebhook(deps, caller.workspace, {
      endpoint: body.endpoint,
      timeoutSeconds: body.timeout,
      owner: { ...ownerFrom(body.owner), workflowName: body.owner.workflow_name },
      secretHash: body.secret_hash ?? null,
      takeOver: body.take_over,
      turnOn: body.turn_on,
      keepSettings: body.keep_settings,
    });
    return publishedWebhookJson(published);
  });

  serve(router, deps, publishing.unpublishWebhook, async ({ deps, caller, query }) => {
    const { revision, endpoint, ...owner } = query;
    const unpublishing = { owner: ownerFrom(owner), revision, endpoint };
    return { removed: await unpublishWebhook(deps, caller.workspace, unpublishing) };
  });

  serve(router, deps, publishing.listenForTest, async ({ deps, caller, body }) => {
    const owner = { ...ownerFrom(body.owner), workflowName: body.owner.workflow_name };
    const { endpoint } = body;
    const { secret, listening } = await listenForTest(deps, caller.workspace, { endpoint, owner });
    return { secret, expires_at: listening.expiresAt };
  });

  serve(router, deps, publishing.stopListening, async ({ deps, caller, query }) => {
    const { endpoint, ...owner } = query;
    const stopping = { owner: ownerFrom(owner), endpoint };
    return { removed: await stopListening(deps, caller.workspace, stopping) };
  });

  return router;
}
