import type { Tx } from '../store/collections.ts';
import type { Conversation } from './conversation.ts';

declare module '../platform/deps.ts' {
  interface Deps {
    readonly reactions: Reactions;
  }
}

/**
 * What other subjects do when something happens to a conversation, in the same transaction.
 * Subjects above conversations/ add their own methods by declaration merging; app/reactions.ts
 * implements all of them.
 */
export interface Reactions {
  /**
   * A customer wrote. If the conversation has a `replyWaitId`, the message answers that wait.
   * @returns the conversation, unsaved: it waits for the team if only the team can answer
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
  /** The message that asks a wait's question failed for good on its channel. */
  onUndeliverable(tx: Tx, waitId: string, now: Date): Promise<void>;
  /**
   * The conversation was handed back to the agent.
   * @returns the conversation, unsaved: if the agent is on, it no longer waits for the team
   */
  onHandedBack(tx: Tx, conversation: Conversation, now: Date): Promise<Conversation>;
}
