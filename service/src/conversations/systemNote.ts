import type { Document } from '../store/store.ts';
import { timestamp } from '../platform/clock.ts';
import type { Assignee, Conversation, HandoverReason, FunnelStage } from './conversation.ts';
import type { Actor } from '../platform/actor.ts';
import { newId } from '../platform/ids.ts';

/** The longest note for the team, in characters. */
export const MAX_NOTE_CHARACTERS = 4000;

/** Something other than a message that happened in a conversation. The thread shows it. */
export type NotedChange =
  | { readonly type: 'handed_over'; readonly reason: HandoverReason; readonly note: string | null }
  | { readonly type: 'handed_back' }
  | { readonly type: 'closed' }
  /** Written for the team. */
  | { readonly type: 'team_note'; readonly text: string }
  /** Something that the customer did on the channel, in words: a new number, a reaction. */
  | { readonly type: 'channel_note'; readonly text: string }
  | { readonly type: 'stage_changed'; readonly from: FunnelStage; readonly to: FunnelStage }
  /** Null means nobody. */
  | { readonly type: 'assigned'; readonly from: Assignee | null; readonly to: Assignee | null };

/** One line of a conversation's history. Never changed once stored. */
export interface SystemNote extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** The number of messages before the note. */
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
