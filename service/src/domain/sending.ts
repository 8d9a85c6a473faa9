import type { Document } from '../store/store.ts';
import { timestamp } from './clock.ts';
import type { Contact } from './contact.ts';
import type { DeliveryState, Message } from './message.ts';
import { workGroup } from './workGroup.ts';

/**
 * A text on its way to a channel: a message of ours, or a piece of one that is longer than the
 * channel takes. What is on record as under way when the process died may have been sent: the
 * channel's receipt, which names the sending, tells.
 */
export interface Sending extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly contactId: string;
  readonly messageId: string;
  /** From 1, in the order of the text. */
  readonly part: number;
  readonly text: string;
  /** Moves forward only. */
  readonly status: DeliveryState;
  /** Given by the channel once it has taken the text. */
  readonly channelMessageId: string | null;
  /** Tries begun so far. */
  readonly attempts: number;
  /** True from before a try until its result is on record. */
  readonly isUnderWay: boolean;
  /** Why it failed, or why the last try did, in words. */
  readonly error: string | null;
  /** Null when none is to come. */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

/**
 * The queue of sendings: one job a contact, named after it, so that texts arrive in order. There is
 * one as long as a sending of the contact is pending.
 */
export const SENDING_QUEUE = 'sendings';

/** Contacts of one account of a channel share its places. */
export const accountGroup = ({ workspaceId, channel, channelAccount }: Contact): string =>
  workGroup(workspaceId, `${channel} ${channelAccount}`);

/** @param start.part from 1 */
export const newSending = ({
  message,
  ...start
}: Pick<Sending, 'id' | 'part' | 'text' | 'createdAt'> & { message: Message }): Sending => ({
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

/** What a try came to. */
export type SendResult =
  | { readonly type: 'sent'; readonly channelMessageId: string | null }
  | {
      readonly type: 'failed';
      /** In words, for the team. */
      readonly error: string;
      /** Asking again cannot help. */
      readonly isRefused: boolean;
      /** The channel asks to wait so long. */
      readonly retryAfterMs: number | null;
      /** The channel may have taken the text: its receipt would tell. */
      readonly mayHaveArrived: boolean;
    };

export interface SendingPolicy {
  /** Before the second and later tries. */
  readonly retryDelaysMs: readonly number[];
  /** How long a receipt is waited for before a text is sent again that may have arrived. */
  readonly graceMs: number;
}

/** What a channel asks for is not waited for longer than this. */
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;
/** Of a wait, to both sides: what failed together is not tried again together. */
const JITTER = 0.2;

/** A try begins: on record before anything is sent. */
export const beginTry = (sending: Sending): Sending => ({
  ...sending,
  attempts: sending.attempts + 1,
  isUnderWay: true,
  nextAttemptAt: null,
});

/** The text goes no further. */
export const failSending = (sending: Sending, error: string): Sending => ({
  ...sending,
  status: 'failed',
  isUnderWay: false,
  error,
  nextAttemptAt: null,
});

/**
 * The sending after a try. A receipt may have come before the answer: it is never moved backwards.
 * @param random from 0 to 1, for the spread of the wait
 */
export function recordTry(
  sending: Sending,
  result: SendResult,
  { retryDelaysMs, graceMs }: SendingPolicy,
  now: Date,
  random: number,
): Sending {
  const ended: Sending = { ...sending, isUnderWay: false, nextAttemptAt: null };
  if (result.type === 'sent') {
    const status = isForwardState(sending.status, 'sent') ? 'sent' : sending.status;
    return {
      ...ended,
      status,
      error: status === 'sent' ? null : sending.error,
      channelMessageId: sending.channelMessageId ?? result.channelMessageId,
    };
  }
  if (sending.status !== 'pending') return ended;
  if (result.isRefused) return failSending(sending, result.error);
  const delayMs = retryDelaysMs[sending.attempts - 1];
  if (delayMs === undefined) {
    const hope = result.mayHaveArrived ? ' It may have arrived all the same.' : '';
    return failSending(sending, `${result.error} It was tried ${sending.attempts} times.${hope}`);
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
 * Receipts come in any order and more than once: `read` is never undone by `delivered`, and what
 * was delivered has not failed.
 */
export function isForwardState(from: DeliveryState, to: DeliveryState): boolean {
  if (from === 'failed') return to === 'delivered' || to === 'read';
  if (to === 'failed') return from === 'pending' || from === 'sent';
  return FORWARD.indexOf(to) > FORWARD.indexOf(from);
}

/** Of a message: failed when a part has failed, else as far as its last part. */
export function stateOf(parts: readonly Pick<Sending, 'status'>[]): DeliveryState {
  if (parts.some(({ status }) => status === 'failed')) return 'failed';
  return FORWARD[Math.min(...parts.map(({ status }) => FORWARD.indexOf(status)))] ?? 'pending';
}

/**
 * Of a message: why the first part that failed did, and how many went out all the same; null when
 * none failed.
 */
export function errorOf(parts: readonly Pick<Sending, 'status' | 'error'>[]): string | null {
  const failed = parts.find(({ status }) => status === 'failed');
  if (!failed) return null;
  const gone = parts.filter(({ status }) => status !== 'failed' && status !== 'pending').length;
  if (gone === 0) return failed.error;
  // Whoever writes all of it again would have the customer read those twice.
  return `Only ${gone} of its ${parts.length} parts ${gone === 1 ? 'was' : 'were'} sent. ${failed.error ?? ''}`.trimEnd();
}
