import type { Message, SenderType } from '../../conversations/index.ts';

const FROM: Record<SenderType, 'customer' | 'agent' | 'team'> = {
  customer: 'customer',
  agent: 'agent',
  team_member: 'team',
  api: 'team',
};

/** A message as its customer sees it, without the name of an API key. */
export const chatMessageJson = (message: Message) => ({
  id: message.id,
  conversation_id: message.conversationId,
  from: FROM[message.sender.type],
  name:
    message.sender.type === 'team_member' || message.sender.type === 'agent'
      ? message.sender.name
      : null,
  text: message.text,
  choices: [...(message.choices ?? [])],
  client_message_id: message.direction === 'inbound' ? message.channelMessageId : null,
  created_at: message.createdAt,
});
