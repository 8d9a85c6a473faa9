import type { Document } from '../store/store.ts';

declare module '../platform/deps.ts' {
  interface Deps {
    /** What the environment says of the agent and its tools. */
    readonly agent: AgentPolicy;
  }
}

export interface AgentPolicy {
  /** What `enabled` is until someone decides: true when a model is configured. */
  readonly isOnByDefault: boolean;
  /**
   * How long the agent waits for a customer to write on, so that a burst of messages gets one
   * reply.
   */
  readonly quietMs: number;
  /** How long a tool call waits for a person's approval. */
  readonly approvalExpiresMs: number;
}

/** The languages in which the agent can work: the service has sentences of its own in each. */
export const LANGUAGES = ['en', 'es', 'pt'] as const;
export type Language = (typeof LANGUAGES)[number];

/** How a workspace's agent presents itself. Id: the workspace's. */
export interface AgentSettings extends Document {
  readonly workspaceId: string;
  readonly name: string;
  /** Begins the agent's first message in each conversation; empty for none. */
  readonly greeting: string;
  /** What the agent is for, what it knows, how it talks. Read by a language model only. */
  readonly instructions: string;
  /** Working languages, the preferred one first. */
  readonly languages: readonly Language[];
  /**
   * Null: nobody has decided; the agent then is on when a model is configured. The first tool that
   * goes live decides.
   */
  readonly enabled: boolean | null;
  /**
   * Whether the agent may make payment links: not at all, when a person approves each, or by
   * itself.
   */
  readonly paymentLinks?: PaymentLinkPolicy;
  /** Further phrases with which a customer asks for a person, beside the built-in ones. */
  readonly handoverPhrases?: readonly string[];
  readonly updatedAt: string;
}

export const MAX_HANDOVER_PHRASES = 50;
export const MAX_HANDOVER_PHRASE_CHARACTERS = 100;

export const PAYMENT_LINK_POLICIES = ['off', 'ask', 'allow'] as const;
export type PaymentLinkPolicy = (typeof PAYMENT_LINK_POLICIES)[number];
/** A person decides, until the team says otherwise. */
export const paymentLinkPolicyOf = ({
  paymentLinks,
}: Pick<AgentSettings, 'paymentLinks'>): PaymentLinkPolicy => paymentLinks ?? 'ask';

export const DEFAULT_AGENT = {
  name: 'Assistant',
  greeting: '',
  instructions: '',
  languages: ['en', 'es', 'pt'],
  enabled: null,
} as const satisfies Partial<AgentSettings>;

/** @param isOnByDefault whether a model is configured */
export const isEnabled = (
  settings: Pick<AgentSettings, 'enabled'>,
  isOnByDefault: boolean,
): boolean => settings.enabled ?? isOnByDefault;

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
