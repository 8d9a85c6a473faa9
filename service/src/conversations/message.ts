import type { Document } from '../store/store.ts';

/** Who decides for the agent: the keyword agent, a language model, or a workflow at an address. */
export const DECIDED_BY = ['keyword', 'language_model', 'webhook'] as const;
export type DecidedBy = (typeof DECIDED_BY)[number];

export type SenderType = 'customer' | 'agent' | 'team_member' | 'api';

export interface Sender {
  readonly type: SenderType;
  readonly name: string;
  /** Of a team member. */
  readonly memberId?: string;
}

/** The delivery of one of our messages. `sent`: the channel has accepted it. */
export const DELIVERY_STATES = ['pending', 'sent', 'delivered', 'read', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/**
 * One message of a conversation. Once stored, only two fields change: `delivery`, and `waitId`,
 * which is removed when no workflow gets the answer.
 */
export interface Message extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly contactId: string;
  /** Position in the conversation, from 1, without gaps. */
  readonly number: number;
  readonly direction: 'inbound' | 'outbound';
  readonly sender: Sender;
  readonly text: string;
  /** The channel's own id. The same id means the same message. */
  readonly channelMessageId: string | null;
  /** Null for the customer's messages, and in a channel that the service hosts. */
  readonly delivery?: {
    readonly state: DeliveryState;
    /** Why it failed, in words. */
    readonly error: string | null;
  } | null;
  /**
   * Sent by an automation beside the agent, or by the agent only to say how a call ended. It answers
   * nothing that the customer wrote.
   */
  readonly isBesideAgent?: boolean;
  /** What decided a message of the agent. */
  readonly decidedBy?: DecidedBy;
  /** Answers that the customer can choose from, or type. */
  readonly choices?: readonly string[];
  /** The wait whose question this message asks, or which this message of the customer answers. */
  readonly waitId?: string;
  readonly createdAt: string;
}

/** What only some messages have. */
export type MessageExtras = Pick<Message, 'isBesideAgent' | 'decidedBy' | 'choices' | 'waitId'>;

/**
 * Whether a message is part of what the customer, the agent and the team say to each other. What an
 * automation sent beside the agent, and a customer's answer to a wait, are not.
 */
export const isDialogue = ({ isBesideAgent, direction, waitId }: Message): boolean =>
  isBesideAgent !== true && !(direction === 'inbound' && waitId !== undefined);

/**
 * Whether a workflow wrote it to go on with a turn that has rested. It answers what that turn was
 * about, and nothing that the customer wrote since.
 */
export const isLateAnswer = ({
  isBesideAgent,
  decidedBy,
  waitId,
}: Pick<Message, 'isBesideAgent' | 'decidedBy' | 'waitId'>): boolean =>
  isBesideAgent === true && decidedBy !== undefined && waitId === undefined;

/**
 * Whether a person can have the message sent again: it failed for good, and does not ask a wait's
 * question. The workflow that asked has gone on by then and would not get the answer.
 */
export const isResendable = ({ delivery, waitId }: Message): boolean =>
  delivery?.state === 'failed' && waitId === undefined;

/** The newest message of the dialogue; null when there is none. @param messages newest first */
export const lastDialogueMessage = (messages: readonly Message[]): Message | null =>
  messages.find(isDialogue) ?? null;

/** The longest message of a customer or the agent, in characters. */
export const MAX_MESSAGE_CHARACTERS = 4096;

/** The longest message of the team or an automation. A channel that takes less gets it in parts. */
export const MAX_REPLY_CHARACTERS = 16_384;
