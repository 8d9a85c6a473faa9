import { collection } from '../store/store.ts';
import type { AgentProgress, AgentSettings } from './agentSettings.ts';
import type { AgentTestWebhook, AgentWebhook } from './webhook/agentWebhook.ts';
import type { WebhookTurn } from './webhook/webhookTurn.ts';

declare module '../store/collections.ts' {
  interface Collections {
    agentSettings: AgentSettings;
    agentTurns: AgentProgress;
    agentWebhooks: AgentWebhook;
    agentTestWebhooks: AgentTestWebhook;
    webhookTurns: WebhookTurn;
  }
}

export const agentCollections = {
  agentSettings: collection<AgentSettings>({ indexes: [{ on: ['workspaceId'] }] }),
  agentTurns: collection<AgentProgress>({ indexes: [] }),
  agentWebhooks: collection<AgentWebhook>({ indexes: [] }),
  agentTestWebhooks: collection<AgentTestWebhook>({ indexes: [] }),
  webhookTurns: collection<WebhookTurn>({
    indexes: [
      { on: [] },
      { on: ['status'] },
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'isTest'] },
      { on: ['conversationId'] },
      { on: ['conversationId', 'status'] },
    ],
  }),
};
