import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { decideToolCall } from '../operations/completeToolCall.ts';
import { getToolCall, listToolCalls } from '../operations/toolCalls.ts';
import { TEST_CONVERSATION_ID } from './toolCall.ts';
import * as contract from './contract.ts';
import { definedOnly } from '../../platform/json.ts';
import { pageFrom, pageJson } from '../../platform/http/page.ts';
import { serve } from '../../platform/http/serve.ts';
import { toolCallJson, toolCallListJson } from '../views.ts';

/** Tool calls, and the decisions that they wait for. */
export function toolCallsRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, contract.listToolCalls, async ({ deps, caller, query }) => {
    const { status, tool, conversation_id: conversation } = query;
    const conversationId = conversation === TEST_CONVERSATION_ID ? null : conversation;
    const filter = definedOnly({ status, tool, conversationId });
    return pageJson(
      await listToolCalls(deps, caller.workspace, filter, pageFrom(query)),
      toolCallListJson,
    );
  });

  serve(router, deps, contract.getToolCall, async ({ deps, caller, params }) =>
    toolCallJson(await getToolCall(deps, caller.workspace, params.id!)),
  );

  for (const [operation, approved] of [
    [contract.approveToolCall, true],
    [contract.rejectToolCall, false],
  ] as const) {
    serve(router, deps, operation, async ({ deps, caller, params, body }) =>
      toolCallJson(
        await decideToolCall(deps, caller.workspace, params.id!, {
          approved,
          by: caller.actor,
          note: body.note ?? null,
        }),
      ),
    );
  }

  return router;
}
