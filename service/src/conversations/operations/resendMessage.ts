import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { Workspace } from '../../team/index.ts';
import { assertOpen } from '../conversation.ts';
import { isResendable } from '../message.ts';
import { loadConversation } from './conversations.ts';

/**
 * Sends a message again that failed for good on its channel. Asking twice sends it once. Control and
 * events stay as they were: the message is the same.
 * @returns false when it has not failed, or is being sent again already
 * @throws conversation_closed, outside_messaging_window, channel_removed (409), not_found (404)
 */
export const resendMessage = (
  { store, clock, messaging }: Pick<Deps, 'store' | 'clock' | 'messaging'>,
  workspace: Workspace,
  conversationId: string,
  messageId: string,
) =>
  store.transaction(async (tx): Promise<boolean> => {
    const now = clock.now();
    const view = await loadConversation(tx, workspace, conversationId);
    const message = await tx.messages.peek(messageId);
    if (message?.conversationId !== conversationId) throw notFound('message', messageId);
    if (!isResendable(message)) return false;
    assertOpen(view.conversation);
    await messaging.assertReachable(tx, view.contact, now);
    return messaging.resend(tx, view, messageId, now);
  });
