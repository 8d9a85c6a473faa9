import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import { notFound } from '../errorCatalogue.ts';
import type { ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { getContact } from './loadConversation.ts';

/** A tool call with the contact whose details are masked in it; null for a test call. */
export interface ToolCallView {
  readonly call: ToolCall;
  readonly contact: Contact | null;
}

/** @throws not_found (404), also for another workspace's call */
export async function loadToolCall(tx: Tx, workspace: Workspace, id: string): Promise<ToolCall> {
  const call = await tx.toolCalls.get(id);
  if (!call || call.workspaceId !== workspace.id) throw notFound('tool call', id);
  return call;
}

/** With the contact whose details are masked in it. */
export async function viewToolCall(tx: Tx, call: ToolCall): Promise<ToolCallView> {
  const conversation = call.conversationId === null ? null : await tx.conversations.get(call.conversationId);
  return { call, contact: conversation && (await getContact(tx, conversation.contactId)) };
}
