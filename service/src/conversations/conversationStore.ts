import { collection } from '../store/store.ts';
import type { Contact } from './contact.ts';
import type { ContactReveal } from './contacts/contactReveal.ts';
import type { Conversation } from './conversation.ts';
import type { Message } from './message.ts';
import { wordsOfContact } from './search/contactWords.ts';
import { wordsOf } from './search/words.ts';
import type { SystemNote } from './systemNote.ts';
import type { ReadMark } from './readMark.ts';
import type { Typing } from './typing.ts';

declare module '../store/collections.ts' {
  interface Collections {
    contacts: Contact;
    conversations: Conversation;
    messages: Message;
    systemNotes: SystemNote;
    contactReveals: ContactReveal;
    readMarks: ReadMark;
    typings: Typing;
  }
}

export const conversationCollections = {
  contacts: collection<Contact>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'phone'] },
      { on: ['workspaceId', 'email'] },
      { on: ['workspaceId', 'channel', 'channelAccount', 'phone'], unique: true },
      { on: ['workspaceId', 'channel', 'channelAccount', 'channelUserId'], unique: true },
    ],
    words: { within: 'workspaceId', of: wordsOfContact },
  }),
  conversations: collection<Conversation>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'channel'] },
      { on: ['workspaceId', 'funnelStage'] },
      { on: ['contactId'] },
      { on: ['workspaceId'], orderBy: 'createdAt' },
      { on: ['workspaceId'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'status'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'takenBy'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'assigneeId'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'channel'], orderBy: 'updatedAt' },
      { on: ['workspaceId', 'funnelStage'], orderBy: 'updatedAt' },
      { on: ['workspaceId'], orderBy: 'waitingSince' },
    ],
  }),
  messages: collection<Message>({
    indexes: [
      { on: ['conversationId'], orderBy: 'number' },
      { on: ['contactId', 'channelMessageId'], unique: true },
    ],
    words: { within: 'workspaceId', of: ({ text }) => wordsOf(text) },
  }),
  systemNotes: collection<SystemNote>({
    indexes: [{ on: ['conversationId'], orderBy: 'afterMessage' }],
  }),
  contactReveals: collection<ContactReveal>({
    indexes: [{ on: ['contactId'] }, { on: ['apiKeyId'] }],
  }),
  readMarks: collection<ReadMark>({ indexes: [{ on: ['memberId'] }] }),
  typings: collection<Typing>({ indexes: [] }),
};
