import type { AgentSettings, Language } from './agentSettings.ts';
import type { Tool, ToolCall } from '../tools/index.ts';
import type { DecidedBy, Verdict } from '../conversations/index.ts';
import type { JsonObject } from '../platform/json.ts';

/**
 * Decides what the agent does: the built-in keyword agent, a language model, or a workflow. A model
 * sees only a `Turn`, which holds no secrets and no contact details in the clear.
 */
export interface AgentModel<Decision = Step | Deferred> {
  /** Shown on its messages as what decided them. */
  readonly decidedBy: DecidedBy;
  /**
   * Decides what the agent does next.
   * @throws Error when the model does not decide (time-out, refusal, unreadable answer). The agent
   * then hands over.
   */
  next(turn: Turn, signal: AbortSignal): Promise<Decision>;
}

export { LANGUAGES, type Language } from './agentSettings.ts';

export interface Turn {
  readonly agent: Pick<AgentSettings, 'name' | 'instructions' | 'languages'>;
  /** The working language that fits the customer's words best. */
  readonly language: Language;
  /** Oldest first. The newest item is the reason for this step. */
  readonly history: readonly HistoryItem[];
  /** The live tools and the built-in ones. */
  readonly tools: readonly AgentTool[];
  /** False when this turn allows no more tool calls. The model then replies or hands over. */
  readonly mayCallTools: boolean;
  /** False while somebody has something to decide or to answer: closing would cancel it. */
  readonly mayClose: boolean;
}

/** All that a model sees of a tool. */
export type AgentTool = Required<
  Pick<Tool, 'name' | 'description' | 'parameters' | 'readOnly' | 'examplePhrases'>
>;

export interface WantedCall {
  readonly tool: string;
  readonly arguments: unknown;
  /** Whether a person must approve the call, whatever the tool's settings say. */
  readonly needsApproval?: boolean;
}

export type HistoryItem =
  | { readonly type: 'customer'; readonly text: string }
  /** What the agent wrote to the customer, or (`team`) a team member or an automation. */
  | {
      readonly type: 'reply';
      readonly from: 'agent' | 'team';
      readonly text: string;
      /** An automation sent it beside the agent: it answers nothing that the customer wrote. */
      readonly isBesideAgent?: boolean;
    }
  /** The tool calls of one step, with their outcomes so far. */
  | { readonly type: 'tool_calls'; readonly calls: readonly PastToolCall[] }
  /** A call that waited for approval when the agent replied, and has ended since. */
  | { readonly type: 'late_result'; readonly call: PastToolCall };

export interface PastToolCall {
  /** `call_…` */
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /**
   * `pending_approval`: a person decides whether it may run. `invalid`: refused before anything was
   * sent, and the model can correct the arguments.
   */
  readonly status: Exclude<ToolCall['status'], 'running'> | 'invalid';
  /**
   * For `succeeded`, the result as JSON text, cut to 8 KiB, or to 512 bytes for older calls. Otherwise a
   * sentence about what happened.
   */
  readonly outcome: string;
}

export type Step =
  | {
      readonly type: 'reply';
      readonly text: string;
      /** Marks the conversation qualified. */
      readonly qualify?: boolean;
      /** Closes the conversation after the reply. */
      readonly close?: { readonly verdict: Verdict; readonly summary: string };
    }
  | {
      readonly type: 'tool_calls';
      /** With the model's own arguments. They are checked with the tool's schema before anything is sent. */
      readonly calls: readonly WantedCall[];
      readonly qualify?: boolean;
    }
  | {
      readonly type: 'hand_over';
      readonly reason: 'customer_request' | 'missing_knowledge';
      /** The message to the customer. Null for the service's own sentence. */
      readonly text: string | null;
      readonly qualify?: boolean;
    };

/** Somebody else decides, and answers later: the workflow that gets the turn (see webhook/). */
export interface Deferred {
  readonly type: 'deferred';
}
