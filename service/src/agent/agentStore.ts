import { collection } from '../store/store.ts';
import type { AgentSettings, AgentTurn } from './agentSettings.ts';

declare module '../store/collections.ts' {
  interface Collections {
    agentSettings: AgentSettings;
    agentTurns: AgentTurn;
  }
}

export const agentCollections = {
  agentSettings: collection<AgentSettings>({ indexes: [{ on: ['workspaceId'] }] }),
  agentTurns: collection<AgentTurn>({ indexes: [] }),
};
