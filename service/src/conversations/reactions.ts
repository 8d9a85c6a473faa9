import type { Tx } from '../store/collections.ts';
import type { Conversation } from './conversation.ts';

declare module '../platform/deps.ts' {
  interface Deps {
    readonly reactions: Reactions;
  }
}

/**
 * What other subjects do when something happens to a conversation, in the same transaction.
 * Subjects above this one add theirs, by declaration merging; app/reactions.ts has them all.
 */
export interface Reactions {
  /**
   * A customer wrote. If the conversation has a `replyWaitId`, the message answers that wait.
   * @returns the conversation, unsaved: it waits for the team if nothing will answer by itself
   */
  onInbound(tx: Tx, conversation: Conversation, now: Date): Promise<Conversation>;
  /**
   * A conversation was closed.
   * @returns the conversation, unsaved, with what the reaction changed in it
   */
  onClosed(tx: Tx, conversation: Conversation, now: Date): Promise<Conversation>;
  /**
   * The agent is no longer in control: a person took over, or is asked for.
   * @returns the conversation, unsaved, with what the reaction changed in it
   */
  onLeftToPerson(tx: Tx, conversation: Conversation, now: Date): Promise<Conversation>;
  /** The message in which a wait asks the customer failed for good on its channel. */
  onUndeliverable(tx: Tx, waitId: string, now: Date): Promise<void>;
  /**
   * The agent has a conversation again.
   * @returns the conversation, unsaved: it no longer waits for the team if the agent is on
   */
  onHandedBack(tx: Tx, conversation: Conversation, now: Date): Promise<Conversation>;
}
