import type { DeliveryState } from './message.ts';

/** What an account of a channel has delivered to us, in the domain's words. */
export type InboundItem = InboundMessage | InboundNote | InboundReceipt;

interface FromAccount {
  /** The channel's own id of the account that it was delivered for. */
  readonly account: string;
}

/** Who it is about. At least one of phone and userId is known. */
export interface InboundSender {
  /** International digits, as the channel vouches for them. */
  readonly phone: string | null;
  readonly userId: string | null;
  readonly name: string | null;
}

/** The customer wrote. What is no text (a picture, a place) is told in words, in brackets. */
export interface InboundMessage extends FromAccount {
  readonly type: 'message';
  readonly from: InboundSender;
  /** The channel's own id: the same one is the same message. */
  readonly id: string;
  readonly text: string;
  /** By the channel's clock; null when it does not say. */
  readonly sentAt: Date | null;
}

/**
 * The customer did something that is no message: shown in the thread, nobody is asked to answer.
 */
export interface InboundNote extends FromAccount {
  readonly type: 'note';
  readonly from: InboundSender;
  readonly id: string;
  /** In words, beginning in lower case, to stand after the customer's name: `reacted with 👍`. */
  readonly text: string;
  /** By the channel's clock; null when it does not say. */
  readonly sentAt: Date | null;
  /**
   * The customer has a new phone number or user id: what they are known by from now on. Null: as
   * before.
   */
  readonly changedTo: Pick<InboundSender, 'phone' | 'userId'> | null;
}

/** How far a message of ours has come. */
export interface InboundReceipt extends FromAccount {
  readonly type: 'receipt';
  readonly channelMessageId: string;
  /** What was sent along with it, when it comes back: the outbound's id. */
  readonly outboundMessageId: string | null;
  readonly state: Exclude<DeliveryState, 'pending'>;
  /** Why it failed, in words. */
  readonly error: string | null;
}
