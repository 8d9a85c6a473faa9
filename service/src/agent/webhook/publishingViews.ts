import { ownerJson } from '../../platform/http/ownerView.ts';
import type { PublishedWebhook } from './operations/publishWebhook.ts';
import type { AgentWebhook } from './agentWebhook.ts';

/** The workflow that is the agent, never with its secret. */
export const webhookJson = (webhook: AgentWebhook) => ({
  endpoint: webhook.endpoint,
  timeout: webhook.timeoutSeconds,
  owner: ownerJson(webhook.owner),
  revision: webhook.revision,
  published_at: webhook.publishedAt,
  removed_at: webhook.removedAt,
  released: webhook.isReleased ?? false,
});

const AGENT_OFF =
  'The agent is off, so customers get no answers from this workflow. Turn it on when they may: on the Agent screen, with PATCH /api/agent {"enabled": true}, or in n8n with Agent → Turn On.';

/** The answer to publishing: the only one that shows a secret, if it is new. */
export const publishedWebhookJson = ({ webhook, secret, isAgentOn }: PublishedWebhook) => ({
  endpoint: webhook.endpoint,
  timeout: webhook.timeoutSeconds,
  revision: webhook.revision,
  owner: ownerJson(webhook.owner),
  secret,
  agent_enabled: isAgentOn,
  notice: isAgentOn ? null : AGENT_OFF,
});
