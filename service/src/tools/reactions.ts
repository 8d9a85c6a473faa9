import type { Conversation } from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import type { Tx } from '../store/collections.ts';
import type { ToolCall } from './calls/toolCall.ts';

/** What the agent does when something happens to tools and their calls, in the same transaction. */
declare module '../conversations/reactions.ts' {
  interface Reactions {
    /**
     * A call of the conversation is complete, however it ended.
     * @returns whether the agent will tell the customer
     */
    onCallCompleted(tx: Tx, conversation: Conversation, now: Date): Promise<boolean>;
    /** Whether the workspace's agent is on: while it is off, it calls no tool. */
    isAgentOn(tx: Tx, workspaceId: string): Promise<boolean>;
    /**
     * A built-in call is due: it is carried out by the service itself.
     * @returns the completed call
     */
    onBuiltInCall(tx: Tx, deps: Deps, call: ToolCall, now: Date): Promise<ToolCall>;
  }
}
