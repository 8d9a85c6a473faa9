import type { Tx } from '../store/collections.ts';
import type { Contact } from './contact.ts';
import type { Message } from './message.ts';
import type { ConversationView } from './operations/conversations.ts';

declare module '../platform/deps.ts' {
  interface Deps {
    readonly messaging: Messaging;
  }
}

/** What a conversation asks of its channel; channels/ provides it. */
export interface Messaging {
  /**
   * Refuses a message that the contact's channel would not take.
   * @throws outside_messaging_window, channel_removed (409)
   */
  assertReachable(tx: Tx, contact: Contact, now: Date): Promise<void>;
  /** Whether an adapter sends the messages. On a hosted channel, storing a message is enough. */
  isSentByAdapter(contact: Contact): boolean;
  /**
   * Queues a message for its channel. If the channel would refuse it now, nothing is queued and the
   * message fails with the reason.
   * @returns the message as stored
   */
  queue(tx: Tx, sent: ConversationView & { message: Message }, now: Date): Promise<Message>;
  /**
   * Queues the unsent parts of a failed message again, behind what is queued already. A message
   * that has not failed stays as it is.
   * @returns whether it is queued
   */
  resend(tx: Tx, view: ConversationView, messageId: string, now: Date): Promise<boolean>;
  /** Makes the channel show that somebody is typing, if it can. */
  queueTyping(tx: Tx, contact: Contact, now: Date): Promise<void>;
}
