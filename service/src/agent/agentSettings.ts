import { LANGUAGES, type Language } from '../platform/reading/language.ts';
import type { Document } from '../store/store.ts';

declare module '../platform/deps.ts' {
  interface Deps {
    /** The environment's settings of the agent and its tools. */
    readonly agent: AgentPolicy;
  }
}

interface AgentPolicy {
  /**
   * How long the agent waits for further messages, so that several in a row get one reply.
   */
  readonly quietMs: number;
  /** How long a tool call waits for a person's approval. */
  readonly approvalExpiresMs: number;
}

export { LANGUAGES, type Language };

export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  es: 'Spanish',
  pt: 'Portuguese',
};

/** The settings of a workspace's agent. Their id is the workspace's. */
export interface AgentSettings extends Document {
  readonly workspaceId: string;
  readonly name: string;
  /** Begins the agent's first message in each conversation; empty for none. */
  readonly greeting: string;
  /** What the agent is for, what it knows, how it talks. Read by a language model only. */
  readonly instructions: string;
  /** Working languages, the preferred one first; never empty. */
  readonly languages: readonly Language[];
  /** Off until someone switches it on. Null in data of version 0.1.0 means off. */
  readonly enabled: boolean | null;
  /**
   * A workflow decides for the agent (`AgentWebhook`), even while none is published. Absent means
   * no: the built-in agent or the configured language model decides.
   */
  readonly usesWebhook?: boolean;
  /** `off`: the agent makes no payment links. `ask`: a person approves each. `allow`: by itself. */
  readonly paymentLinks?: PaymentLinkPolicy;
  /** Phrases with which a customer asks for a person, in addition to the built-in ones. */
  readonly handoverPhrases?: readonly string[];
  readonly updatedAt: string;
}

export const MAX_AGENT_NAME_CHARACTERS = 100;
export const MAX_GREETING_CHARACTERS = 1000;
export const MAX_INSTRUCTIONS_CHARACTERS = 20_000;
export const MAX_HANDOVER_PHRASES = 50;
export const MAX_HANDOVER_PHRASE_CHARACTERS = 100;

export const PAYMENT_LINK_POLICIES = ['off', 'ask', 'allow'] as const;
export type PaymentLinkPolicy = (typeof PAYMENT_LINK_POLICIES)[number];
/** Until the team decides otherwise, a person approves each link. */
export const paymentLinkPolicyOf = ({
  paymentLinks,
}: Pick<AgentSettings, 'paymentLinks'>): PaymentLinkPolicy => paymentLinks ?? 'ask';

export const DEFAULT_AGENT = {
  name: 'Assistant',
  greeting: '',
  instructions: '',
  languages: ['en', 'es', 'pt'],
  enabled: false,
} as const satisfies Partial<AgentSettings>;

export const usesWebhook = (settings: Pick<AgentSettings, 'usesWebhook'>): boolean =>
  settings.usesWebhook === true;

export const isEnabled = ({ enabled }: Pick<AgentSettings, 'enabled'>): boolean => enabled === true;

/** How far the agent's turns in a conversation have come. Its id is the conversation's. */
export interface AgentProgress extends Document {
  /** The number of the newest turn. The outcome of an earlier turn is out of date. */
  readonly number: number;
  /**
   * The number of the last message that a workflow's turn has dealt with, with or without a reply.
   * No message up to it waits for an answer. Absent: no message was dealt with yet.
   */
  readonly answeredThrough?: number;
}

export const AGENT_QUEUE = 'agent_turns';
export const MAX_TOOL_CALLS_PER_TURN = 8;
/** An agent that replies more often within `REPLY_WINDOW_MS` probably talks to a machine. It hands over. */
export const MAX_REPLIES_PER_WINDOW = 30;
export const REPLY_WINDOW_MS = 10 * 60 * 1000;
