// Contacts, conversations and messages as the service stores them, for stores that the bench fills
// itself.
import type { Contact } from '../../service/src/conversations/contact.ts';
import {
  openConversation,
  type Conversation,
} from '../../service/src/conversations/conversation.ts';
import type { Message } from '../../service/src/conversations/message.ts';
import { timestamp } from '../../service/src/platform/clock.ts';
import { newId } from '../../service/src/platform/ids.ts';
import { MESSAGE_TEXT } from './customers.ts';

export const phoneOf = (i: number): string => `54911${50_000_000 + i}`;

export const contactOf = (workspaceId: string, i: number, at: Date): Contact => ({
  id: newId('ctc'),
  workspaceId,
  channel: 'web_chat',
  name: `Customer ${i}`,
  phone: phoneOf(i),
  email: `customer${i}@example.com`,
  verified: false,
  createdAt: timestamp(at),
});

export const conversationOf = (
  { id: contactId, workspaceId, channel }: Contact,
  at: Date,
): Conversation =>
  openConversation(
    { id: newId('conv'), workspaceId, contactId, channel, previousConversationId: null },
    at,
  );

/** The customer and the agent write in turn. */
export const messageOf = (
  { workspaceId, id, contactId }: Conversation,
  number: number,
  at: Date,
  text = MESSAGE_TEXT,
): Message => {
  const isInbound = number % 2 === 1;
  return {
    id: newId('msg'),
    workspaceId,
    conversationId: id,
    contactId,
    number,
    direction: isInbound ? 'inbound' : 'outbound',
    sender: isInbound ? { type: 'customer', name: 'Customer' } : { type: 'agent', name: 'Agent' },
    text,
    channelMessageId: isInbound ? `${id} ${number}` : null,
    delivery: null,
    createdAt: timestamp(at),
  };
};
