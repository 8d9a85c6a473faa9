import { updateAgentSettings } from '../../../service/src/agent/operations/settings.ts';
import { loadTurn } from '../../../service/src/agent/turn/loadTurn.ts';
import { putToolCalls } from '../../../service/src/agent/turn/putToolCalls.ts';
import { startChatSession } from '../../../service/src/channels/web_chat/chatOperations.ts';
import { receiveMessage } from '../../../service/src/conversations/operations/receiveMessage.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import type { WantedDefinition } from '../../../service/src/tools/definition/checkDefinition.ts';
import { createTool } from '../../../service/src/tools/operations/defineTool.ts';

/**
 * Turns the agent on, gives it a live tool `refund`, and lets a customer ask for a refund; the agent
 * has chosen to call the tool.
 * @returns the id of the conversation
 */
export async function askForRefund(
  deps: Deps,
  workspace: Workspace,
  tool: Pick<WantedDefinition, 'kind' | 'endpoint' | 'requestTemplate' | 'askBeforeRunning'>,
): Promise<string> {
  const { store, clock } = deps;
  await updateAgentSettings(deps, workspace, { enabled: true });
  const definition = {
    name: 'refund',
    description: 'Refunds.',
    parameters: { type: 'object' },
    timeoutSeconds: 10,
    ...tool,
  };
  const { tool: draft } = await createTool(deps, workspace, definition, {});
  await store.transaction((tx) => tx.tools.put({ ...draft, status: 'live' }));
  const visitor = { name: null, phone: null, email: null };
  const { contact } = await startChatSession(deps, workspace, visitor);
  const { conversationId } = await receiveMessage(deps, workspace, contact.id, {
    text: 'please refund me',
    channelMessageId: '1',
  });
  const turn = (await loadTurn(deps, conversationId))!;
  const chosen = [{ tool: 'refund', arguments: {}, misfit: null }];
  await store.transaction((tx) =>
    putToolCalls(tx, deps, turn, turn.conversation, chosen, clock.now()),
  );
  return conversationId;
}
