import type { Document } from '../store/store.ts';

/** How often the agent's loop has taken a conversation up. Id: the conversation's. */
export interface AgentTurn extends Document {
  /** Raised each time: what an earlier one worked out is stale. */
  readonly number: number;
}

export const AGENT_QUEUE = 'agent_turns';
export const MAX_TOOL_CALLS_PER_TURN = 8;
/**
 * An agent that writes this often within `REPLY_WINDOW_MS` talks with a machine; a person looks
 * into it.
 */
export const MAX_REPLIES_PER_WINDOW = 30;
export const REPLY_WINDOW_MS = 10 * 60 * 1000;
