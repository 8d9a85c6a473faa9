import type { Conversation, DecidedBy, Message } from '../conversations/index.ts';
import type { Actor } from '../platform/actor.ts';
import type { Language } from '../platform/reading/language.ts';
import type { Tx } from '../store/collections.ts';
import type { WaitKind } from './wait.ts';

/** A wait that a turn of the agent opens. */
export interface WaitOfTurn {
  readonly workspaceId: string;
  readonly turnId: string;
  /** The conversation that the workflow's request names; null when it names none. */
  readonly conversationId: string | null;
  /** Who is asked: the customer, or the team. */
  readonly kind: WaitKind;
  /** The question. */
  readonly message: string;
}

/** How the question of a turn is asked. */
export interface QuestionOfTurn {
  /** The conversation of the turn; null for a test. */
  readonly conversationId: string | null;
  /** The question; with the agent's greeting if this is its first message. */
  readonly text: string;
  readonly actor: Actor;
  readonly decidedBy: DecidedBy;
  /** Whether newer messages of the customer have a turn of their own. */
  readonly isBesideAgent: boolean;
}

/** What the agent does when something happens to waits, in the same transaction. */
declare module '../conversations/reactions.ts' {
  interface Reactions {
    /**
     * A turn of the agent opens a wait, which suspends it.
     * @throws not_found (404); turn_superseded, try_without_customer (409)
     */
    onWaitOpened(tx: Tx, wanted: WaitOfTurn, now: Date): Promise<QuestionOfTurn>;
    /**
     * The wait of a turn has ended, for whatever reason: the turn goes on.
     * @param end.isUnread the customer wrote, and the workflow never reads it: a newer turn answers
     * @returns the conversation, which the caller saves
     */
    onWaitEnded(
      tx: Tx,
      turnId: string,
      end: { conversation: Conversation | null; isUnread: boolean },
      now: Date,
    ): Promise<Conversation | null>;
    /** The execution behind a turn's wait has come back and collected the wait. */
    onWaitCollected(tx: Tx, turnId: string, now: Date): Promise<void>;
    /**
     * Nothing will collect a wait that has ended: its execution is gone.
     * @param wait.problem why, in words for the team
     * @param conversation the wait's, locked; null when it has none
     */
    onResumeGivenUp(
      tx: Tx,
      wait: {
        workspaceId: string;
        turnId: string | null;
        /** The customer answered, and nobody has read it. */
        hasAnswer: boolean;
        problem: string;
      },
      conversation: Conversation | null,
      now: Date,
    ): Promise<void>;
    /**
     * The customer answers that they want a person, and `asksForPerson` agrees: the conversation is
     * handed over, which ends the wait.
     */
    onPersonAsked(tx: Tx, conversation: Conversation, now: Date): Promise<void>;
    /** Whether the customer asks for a person and gets one: the agent is on and in control. */
    asksForPerson(
      tx: Tx,
      conversation: Conversation,
      messages: readonly Pick<Message, 'text'>[],
    ): Promise<boolean>;
    /** In which languages customers of the workspace write, the preferred one first. */
    agentLanguages(tx: Tx, workspaceId: string): Promise<readonly Language[]>;
  }
}
