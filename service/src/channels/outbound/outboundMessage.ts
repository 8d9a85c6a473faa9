import type { Document } from '../../store/store.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Contact, DeliveryState, Message } from '../../conversations/index.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';

/**
 * A text on its way to a channel: a message of ours, or a part of one that is longer than the
 * channel takes. If the process dies during an attempt, the text may have been sent; only the
 * channel's receipt, which names the outbound message, can tell.
 */
export interface OutboundMessage extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly contactId: string;
  readonly messageId: string;
  /** Position in the message, from 1. */
  readonly part: number;
  readonly text: string;
  /** Answers that the channel shows with it. */
  readonly choices?: readonly string[];
  /** Only ever moves forward. */
  readonly status: DeliveryState;
  /** The id that the channel gave when it accepted the text. */
  readonly channelMessageId: string | null;
  /** Attempts begun so far. */
  readonly attempts: number;
  /** An attempt has begun and its result is not recorded. */
  readonly isUnderWay: boolean;
  /** Why it failed, or why the last attempt did, in words for the team. */
  readonly error: string | null;
  /** Null when no attempt is scheduled. */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

/**
 * The queue of outbound messages. A contact has one job, with the contact's id, as long as one of
 * its outbound messages is pending: this keeps texts in order.
 */
export const OUTBOUND_QUEUE = 'outbound_messages';

/** The queue of contacts to whom their channel shows that somebody is typing. */
export const TYPING_QUEUE = 'typing';

/** Contacts of the same channel account share its limit. */
export const accountGroup = ({ workspaceId, channel, channelAccount }: Contact): string =>
  workGroup(workspaceId, `${channel} ${channelAccount}`);

/** @param start.part from 1 */
export const newOutbound = ({
  message,
  ...start
}: Pick<OutboundMessage, 'id' | 'part' | 'text' | 'choices' | 'createdAt'> & {
  message: Message;
}): OutboundMessage => ({
  ...start,
  workspaceId: message.workspaceId,
  conversationId: message.conversationId,
  contactId: message.contactId,
  messageId: message.id,
  status: 'pending',
  channelMessageId: null,
  attempts: 0,
  isUnderWay: false,
  error: null,
  nextAttemptAt: null,
});

/** The result of an attempt. */
export type SendResult =
  | { readonly type: 'sent'; readonly channelMessageId: string | null }
  | {
      readonly type: 'failed';
      /** In words, for the team. */
      readonly error: string;
      /** Another attempt cannot help. */
      readonly isRefused: boolean;
      /** How long the channel asks to wait. */
      readonly retryAfterMs: number | null;
      /** The channel may have accepted the text; a receipt would tell. */
      readonly mayHaveArrived: boolean;
    };

export interface AttemptPolicy {
  /** Before the second and later attempts. */
  readonly retryDelaysMs: readonly number[];
  /** How long to wait for a receipt before sending again a text that may have arrived. */
  readonly graceMs: number;
}

/** A channel that asks for a longer wait gets this one. */
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;
/** Each wait is up to this share longer or shorter, so that not all failed texts come back at once. */
const JITTER = 0.2;

/** Begins an attempt. The caller stores it before anything is sent. */
export const startAttempt = (outbound: OutboundMessage): OutboundMessage => ({
  ...outbound,
  attempts: outbound.attempts + 1,
  isUnderWay: true,
  nextAttemptAt: null,
});

/** Ends the outbound message as failed. */
export const failOutbound = (outbound: OutboundMessage, error: string): OutboundMessage => ({
  ...outbound,
  status: 'failed',
  isUnderWay: false,
  error,
  nextAttemptAt: null,
});

/**
 * Applies the result of an attempt. A receipt may have arrived first: the status never moves back.
 * @param random from 0 to 1, for the spread of the wait
 */
export function afterAttempt(
  outbound: OutboundMessage,
  result: SendResult,
  { retryDelaysMs, graceMs }: AttemptPolicy,
  now: Date,
  random: number,
): OutboundMessage {
  const ended: OutboundMessage = { ...outbound, isUnderWay: false, nextAttemptAt: null };
  if (result.type === 'sent') {
    const channelMessageId = outbound.channelMessageId ?? result.channelMessageId;
    const identified = { ...ended, channelMessageId };
    return isForwardState(outbound.status, 'sent')
      ? { ...identified, status: 'sent', error: null }
      : identified;
  }
  if (outbound.status !== 'pending') return ended;
  if (result.isRefused) return failOutbound(outbound, result.error);
  const delayMs = retryDelaysMs[outbound.attempts - 1];
  if (delayMs === undefined) {
    const doubt = result.mayHaveArrived ? ' It may still have arrived.' : '';
    const error = `${result.error} It was tried ${outbound.attempts} times.${doubt}`;
    return failOutbound(outbound, error);
  }
  const spreadMs = delayMs * (1 + JITTER * (2 * random - 1));
  const waitMs = Math.max(
    spreadMs,
    Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS),
    result.mayHaveArrived ? graceMs : 0,
  );
  return {
    ...ended,
    error: result.error,
    nextAttemptAt: timestamp(new Date(now.getTime() + waitMs)),
  };
}

const FORWARD: readonly DeliveryState[] = ['pending', 'sent', 'delivered', 'read'];

/**
 * Whether a status may change to another. Receipts come in any order and more than once: `read` is
 * never undone by `delivered`, and what was delivered has not failed.
 */
export function isForwardState(from: DeliveryState, to: DeliveryState): boolean {
  if (from === 'failed') return to === 'delivered' || to === 'read';
  if (to === 'failed') return from === 'pending' || from === 'sent';
  return FORWARD.indexOf(to) > FORWARD.indexOf(from);
}

/** The state of a message: failed if a part failed, or else that of its least advanced part. */
export function stateOf(parts: readonly Pick<OutboundMessage, 'status'>[]): DeliveryState {
  if (parts.some(({ status }) => status === 'failed')) return 'failed';
  return FORWARD[Math.min(...parts.map(({ status }) => FORWARD.indexOf(status)))] ?? 'pending';
}

/** Why the first failed part of a message failed, and how many parts were sent; null if none failed. */
export function errorOf(
  parts: readonly Pick<OutboundMessage, 'status' | 'error'>[],
): string | null {
  const failed = parts.find(({ status }) => status === 'failed');
  if (!failed) return null;
  const sent = parts.filter(({ status }) => status !== 'failed' && status !== 'pending').length;
  if (sent === 0) return failed.error;
  // The customer has these parts, so the team should not send everything again.
  return `Only ${sent} of its ${parts.length} parts ${sent === 1 ? 'was' : 'were'} sent. ${failed.error ?? ''}`.trimEnd();
}
