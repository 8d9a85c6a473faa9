import type { Document } from '../store/store.ts';
import type { DeliveryState } from './message.ts';

/**
 * A text on its way to a channel: a message of ours, or a piece of one that is longer than the channel
 * takes. What is on record as under way when the process died may have been sent: the channel's
 * receipt, which names the sending, tells.
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

/** The queue of sendings: one job a contact, named after it, so that texts arrive in order. */
export const SENDING_QUEUE = 'sendings';

const FORWARD: readonly DeliveryState[] = ['pending', 'sent', 'delivered', 'read'];

/** Receipts come in any order and more than once: `read` is never undone by `delivered`, and what was delivered has not failed. */
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
