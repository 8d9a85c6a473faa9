import { conversationJson, messageJson } from '../../conversations/views.ts';
import { ownerJson } from '../../platform/http/ownerView.ts';
import { TEST_CONVERSATION_ID } from '../../tools/index.ts';
import type { AnsweredTurn } from './operations/answerTurn.ts';
import type { PublishedWebhook } from './operations/publishWebhook.ts';
import type { AgentWebhook } from './agentWebhook.ts';
import type { WebhookTurn } from './webhookTurn.ts';

/** A turn in the API's answers. Its `problem` was masked when it was stored. */
export const turnJson = (turn: WebhookTurn) => ({
  turn_id: turn.id,
  conversation_id: turn.conversationId ?? TEST_CONVERSATION_ID,
  status: turn.status,
  outcome: turn.outcome,
  problem: turn.problem,
  attempts: turn.attempts,
  messages_sent: turn.replies,
  is_test: turn.isTest,
  is_resumed: turn.isResumed,
  created_at: turn.createdAt,
  started_at: turn.startedAt,
  deadline: turn.deadline,
  ended_at: turn.endedAt,
});

export const answeredTurnJson = ({ turn, messages, view }: AnsweredTurn) => ({
  turn: turnJson(turn),
  messages: view === null ? [] : messages.map((message) => messageJson(message, view.contact)),
  conversation: view && conversationJson(view),
});

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

/** The answer to publishing. Only here is a new signing secret shown. */
export const publishedWebhookJson = ({ webhook, secret, isAgentOn }: PublishedWebhook) => ({
  endpoint: webhook.endpoint,
  timeout: webhook.timeoutSeconds,
  revision: webhook.revision,
  owner: ownerJson(webhook.owner),
  secret,
  agent_enabled: isAgentOn,
  notice: isAgentOn ? null : AGENT_OFF,
});
