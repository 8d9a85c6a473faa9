import type { Document } from '../store/store.ts';
import { timestamp } from '../platform/clock.ts';
import type { Conversation, HandoverReason, FunnelStage } from './conversation.ts';
import type { Actor } from '../platform/actor.ts';
import { newId } from '../platform/ids.ts';

/** What happened to a conversation beside its messages; the team's screens show it at its place. */
export type NotedChange =
  | { readonly type: 'handed_over'; readonly reason: HandoverReason; readonly note: string | null }
  | { readonly type: 'handed_back' }
  | { readonly type: 'closed' }
  /**
   * What the customer did on the channel that is no message (a reaction, a new number), in words.
   */
  | { readonly type: 'channel_note'; readonly text: string }
  | { readonly type: 'stage_changed'; readonly from: FunnelStage; readonly to: FunnelStage };

/** One line of a conversation's history; never changed once stored. */
export interface SystemNote extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** How many messages the conversation had: the note stands behind that one. */
  readonly afterMessage: number;
  readonly change: NotedChange;
  readonly actor: Actor;
  readonly createdAt: string;
}

/** @param conversation as the change left it */
export const newSystemNote = (
  conversation: Conversation,
  change: NotedChange,
  actor: Actor,
  now: Date,
): SystemNote => ({
  id: newId('note'),
  workspaceId: conversation.workspaceId,
  conversationId: conversation.id,
  afterMessage: conversation.messageCount,
  change,
  actor,
  createdAt: timestamp(now),
});
