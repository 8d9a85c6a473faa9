import type { Deps } from '../deps.ts';
import { notFound } from '../errorCatalogue.ts';
import { inOneTransaction } from '../inOneTransaction.ts';
import type { Workspace } from '../workspace.ts';
import { decideToolCall } from './decideToolCall.ts';
import { peekToolCall } from './loadToolCall.ts';

/**
 * As `decideToolCall`, for a call that is shown in a conversation.
 * @throws not_found (404) when the call is not one of this conversation, approval_already_decided
 * (409)
 */
export const decideInConversation = (
  deps: Deps,
  workspace: Workspace,
  conversationId: string,
  callId: string,
  decision: Parameters<typeof decideToolCall>[3],
) =>
  inOneTransaction(deps, async (within, tx) => {
    const call = await peekToolCall(tx, workspace, callId);
    if (call.conversationId !== conversationId) throw notFound('tool call', callId);
    return decideToolCall(within, workspace, callId, decision);
  });
