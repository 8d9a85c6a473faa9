import { collection } from '../store/store.ts';
import type { Channel } from './channel.ts';
import type { ChatSession } from './web_chat/chatSession.ts';
import type { OutboundMessage } from './outbound/outboundMessage.ts';

declare module '../store/collections.ts' {
  interface Collections {
    channels: Channel;
    chatSessions: ChatSession;
    outboundMessages: OutboundMessage;
  }
}

export const channelCollections = {
  channels: collection<Channel>({
    indexes: [{ on: ['workspaceId'] }, { on: ['workspaceId', 'type', 'account'], unique: true }],
  }),
  chatSessions: collection<ChatSession>({
    indexes: [{ on: [], orderBy: 'createdAt' }, { on: ['contactId'] }],
  }),
  outboundMessages: collection<OutboundMessage>({
    indexes: [
      { on: [] },
      { on: ['messageId'], orderBy: 'part' },
      { on: ['contactId', 'status'] },
      { on: ['workspaceId', 'channelMessageId'], unique: true },
    ],
  }),
};
