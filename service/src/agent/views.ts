import type { z } from 'zod';
import { definedOnly } from '../platform/json.ts';
import type { updateAgent } from './contract.ts';
import type { DecidedBy } from '../conversations/index.ts';
import type { Workspace } from '../team/index.ts';
import {
  isEnabled,
  paymentLinkPolicyOf,
  usesWebhook,
  type AgentSettings,
} from './agentSettings.ts';
import type { AgentWebhook } from './webhook/agentWebhook.ts';
import { webhookJson } from './webhook/views.ts';

/** The model that decides while no workflow does. */
export interface NamedModel {
  /** `keyword`, or the name of the configured model. */
  readonly name: string;
  readonly decidedBy: DecidedBy;
}

/** The changes that a request asks for. Fields that it leaves out stay out. */
export const changesFrom = ({
  payment_links,
  handover_phrases,
  use_webhook,
  ...others
}: z.output<NonNullable<typeof updateAgent.body>>) =>
  definedOnly({
    ...others,
    paymentLinks: payment_links,
    handoverPhrases: handover_phrases,
    usesWebhook: use_webhook,
  });

/** The agent's settings as the API shows them. */
export const agentJson = (
  workspace: Workspace,
  settings: AgentSettings,
  webhook: AgentWebhook | null,
  model: NamedModel,
) => ({
  id: workspace.agentId,
  name: settings.name,
  greeting: settings.greeting,
  instructions: settings.instructions,
  languages: [...settings.languages],
  enabled: isEnabled(settings),
  payment_links: paymentLinkPolicyOf(settings),
  handover_phrases: [...(settings.handoverPhrases ?? [])],
  model: model.name,
  decided_by: usesWebhook(settings) ? ('webhook' as const) : model.decidedBy,
  use_webhook: usesWebhook(settings),
  webhook: webhook && webhookJson(webhook),
  updated_at: settings.updatedAt === '' ? null : settings.updatedAt,
});
