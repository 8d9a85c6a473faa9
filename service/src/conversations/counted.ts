import { count } from '../platform/counting/count.ts';
import { durationBucket } from '../platform/counting/durations.ts';
import type { Tx } from '../store/collections.ts';
import type { Conversation, HandoverReason, Outcome } from './conversation.ts';
import { isLateAnswer, type DecidedBy, type Message, type SenderType } from './message.ts';

/**
 * What decided a message of the agent; for other messages, the type of the sender. `agent`: one of
 * the service's own sentences.
 */
export type AnsweredBy = DecidedBy | Exclude<SenderType, 'customer'>;

declare module '../platform/counting/count.ts' {
  interface Counted {
    opened: readonly [channel: string];
    closed: readonly [channel: string, verdict: string];
    /** From the customer's first message to the first answer. */
    first_answer: readonly [channel: string, durationBucket: number];
    /** From the customer's first message to the close. */
    resolution: readonly [channel: string, durationBucket: number];
    answered: readonly [channel: string, by: AnsweredBy];
    /** Control left the agent. */
    handed_over: readonly [channel: string, reason: HandoverReason];
    /**
     * Control left the agent for the first time; counted in the hour in which the conversation was
     * opened.
     */
    opened_handed_over: readonly [channel: string];
  }
}

export const countOpened = (
  tx: Tx,
  { workspaceId, channel }: Conversation,
  now: Date,
): Promise<void> => count(tx, workspaceId, now, ['opened', [channel]]);

/**
 * Counts an answer to the customer. What an automation sends beside the agent is none, unless it is
 * a late answer.
 */
export async function countAnswer(
  tx: Tx,
  before: Conversation,
  message: Pick<Message, 'sender' | 'decidedBy' | 'isBesideAgent' | 'waitId'>,
  now: Date,
): Promise<void> {
  const { sender, decidedBy, isBesideAgent } = message;
  if (sender.type === 'customer' || (isBesideAgent && !isLateAnswer(message))) return;
  const { workspaceId, channel, createdAt, answeredAt } = before;
  await count(tx, workspaceId, now, ['answered', [channel, decidedBy ?? sender.type]]);
  if (answeredAt === null)
    await count(tx, workspaceId, now, ['first_answer', [channel, bucketSince(createdAt, now)]]);
}

/** Counts a handover. @param before the conversation while the agent was still in control */
export async function countHandover(
  tx: Tx,
  before: Pick<Conversation, 'workspaceId' | 'channel' | 'createdAt' | 'wasHandedOver'>,
  reason: HandoverReason,
  now: Date,
): Promise<void> {
  const { workspaceId, channel, createdAt, wasHandedOver } = before;
  await count(tx, workspaceId, now, ['handed_over', [channel, reason]]);
  // Undefined in a conversation of an earlier version: nobody knows whether this is the first time.
  if (wasHandedOver === false)
    await count(tx, workspaceId, new Date(createdAt), ['opened_handed_over', [channel]]);
}

export async function countClosed(
  tx: Tx,
  { workspaceId, channel, createdAt }: Conversation,
  { verdict }: Outcome,
  now: Date,
): Promise<void> {
  await count(
    tx,
    workspaceId,
    now,
    ['closed', [channel, verdict]],
    ['resolution', [channel, bucketSince(createdAt, now)]],
  );
}

const bucketSince = (time: string, now: Date): number =>
  durationBucket(now.getTime() - Date.parse(time));
