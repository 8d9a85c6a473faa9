import {
  openConversation,
  type Contact,
  type ConversationView,
  type Message,
} from '../conversations/index.ts';
import { timestamp } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { Workspace } from '../team/index.ts';

/** A conversation in which a new visitor without a name has written one message. Nothing is stored. */
export function inventConversation(
  workspace: Workspace,
  text: string,
  now: Date,
): ConversationView & { readonly message: Message } {
  const owner = { workspaceId: workspace.id, contactId: newId('ctc') };
  const contact: Contact = {
    id: owner.contactId,
    workspaceId: workspace.id,
    channel: 'web_chat',
    name: null,
    phone: null,
    email: null,
    verified: false,
    createdAt: timestamp(now),
  };
  const opened = openConversation(
    { ...owner, id: newId('conv'), channel: 'web_chat', previousConversationId: null },
    now,
  );
  const message: Message = {
    ...owner,
    id: newId('msg'),
    conversationId: opened.id,
    number: 1,
    direction: 'inbound',
    sender: { type: 'customer', name: 'Visitor' },
    text,
    channelMessageId: null,
    createdAt: timestamp(now),
  };
  const conversation = { ...opened, messageCount: 1, customerMessageCount: 1 };
  return { workspace, contact, conversation, message };
}
