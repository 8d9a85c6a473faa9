import type { Language } from '../domain/agentSettings.ts';
import type { Verdict } from '../domain/conversation.ts';
import type { JsonObject } from '../domain/json.ts';

/**
 * The one interface between the agent's loop and what decides for it: the built-in keyword agent,
 * or a language model. A model sees what is in `Turn` and nothing else: no secret, no contact
 * details in the clear.
 */
export interface AgentModel {
  /**
   * What the agent does next.
   * @throws Error when the model cannot say (time-out, refusal, broken answer); the loop then hands
   * over
   */
  next(turn: Turn, signal: AbortSignal): Promise<Step>;
}

export { LANGUAGES, type Language } from '../domain/agentSettings.ts';

export interface Turn {
  readonly agent: {
    readonly name: string;
    /**
     * Free text of the workspace: what the agent is for, what it knows, how it talks. May be empty.
     */
    readonly instructions: string;
    /** Working languages, the preferred one first; never empty. */
    readonly languages: readonly Language[];
  };
  /** The working language that fits the customer's words best. */
  readonly language: Language;
  /** Oldest first; the newest item is what asks for this step. */
  readonly history: readonly HistoryItem[];
  /** The live tools, and what is built in. */
  readonly tools: readonly AgentTool[];
  /**
   * False when no further tool call is possible in this turn: the model has to reply or hand over.
   */
  readonly mayCallTools: boolean;
}

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12, an object at its root. */
  readonly parameters: JsonObject;
  /** It only looks something up. */
  readonly readOnly: boolean;
  /** What customers write who want it. */
  readonly examplePhrases: readonly string[];
}

export interface WantedCall {
  readonly tool: string;
  readonly arguments: unknown;
  /** A person has to decide, whatever the tool's settings say. */
  readonly needsApproval?: boolean;
}

export type HistoryItem =
  | { readonly type: 'customer'; readonly text: string }
  /** What the agent itself, a team member or an automation wrote to the customer. */
  | { readonly type: 'reply'; readonly from: 'agent' | 'team'; readonly text: string }
  /** The tool calls of one step, with their outcomes so far. */
  | { readonly type: 'tool_calls'; readonly calls: readonly PastToolCall[] }
  /** A call that waited for approval when its step went on, and has come to its end since. */
  | { readonly type: 'late_result'; readonly call: PastToolCall };

export interface PastToolCall {
  /** `call_…` */
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /**
   *  `pending_approval`: a person of the team decides whether it may run. `invalid`: refused before anything was sent; the model can correct the arguments.
   */
  readonly status:
    | 'pending_approval'
    | 'succeeded'
    | 'failed'
    | 'invalid'
    | 'rejected'
    | 'expired'
    | 'cancelled';
  /** succeeded: the result as JSON text, cut to 8 KiB; otherwise what happened, in a sentence. */
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
      /**
       *  `arguments` as the model gave them; checked against the tool's schema before anything is sent.
       */
      readonly calls: readonly WantedCall[];
      readonly qualify?: boolean;
    }
  | {
      readonly type: 'hand_over';
      readonly reason: 'customer_request' | 'missing_knowledge';
      /** What the customer is told; null: the service's own sentence. */
      readonly text: string | null;
    };
