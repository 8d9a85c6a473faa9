import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { pageFrom, pageJson } from '../../platform/http/page.ts';
import { serve } from '../../platform/http/serve.ts';
import { TEST_CONVERSATION_ID } from '../../tools/index.ts';
import { answerTurn } from './operations/answerTurn.ts';
import { getTurn, listTurns } from './operations/turns.ts';
import * as contract from './contract.ts';
import { answeredTurnJson, turnJson } from './views.ts';

/** The turns of the workflow that is the agent, and what it answers in them. */
export function agentTurnsRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, contract.listAgentTurns, async ({ deps, caller, query }) => {
    const { status, conversation_id: id } = query;
    const filter = {
      ...(status === undefined ? {} : { status }),
      ...(id === undefined ? {} : { conversationId: id === TEST_CONVERSATION_ID ? null : id }),
    };
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
