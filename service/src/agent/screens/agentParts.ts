import type { FormState } from '../../platform/html/forms.ts';
import type { AgentInDetail } from '../operations/readAgent.ts';
import type { TriedStep } from '../tryAgent.ts';

/** The model that decides for the agent while no workflow does. */
export interface ModelInfo {
  /** `keyword`, or the configured model's name. */
  readonly name: string;
  /** The host of the model's server; null for the built-in keyword agent. */
  readonly host: string | null;
}

/** What live updates replace. */
export interface AgentParts extends AgentInDetail {
  readonly model: ModelInfo;
  readonly now: Date;
}

export interface AgentPage extends AgentParts {
  readonly publicUrl: string;
  readonly notice?: unknown;
  /** Settings that were refused. */
  readonly form?: FormState;
  readonly tried?: TriedMessage;
}

/** A message that was tried with the keyword agent or the language model, or that was refused. */
interface TriedMessage {
  readonly form: FormState;
  /** What the agent would do; null when the message was refused. */
  readonly step: TriedStep | null;
}
