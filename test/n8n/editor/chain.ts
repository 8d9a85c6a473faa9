// Workflows of a few nodes in a row, made over n8n's API for a look at them in its editor.
import { randomUUID } from 'node:crypto';
import type { Workflow } from '../n8nServer.ts';
import type { Stage } from '../stage.ts';

export interface ChainNode {
  readonly name: string;
  /** For one of our nodes without the package, such as `conversationService`. */
  readonly type: string;
  readonly parameters?: Record<string, unknown>;
}

export const EVENT_TRIGGER: ChainNode = {
  name: 'Events',
  type: 'conversationServiceTrigger',
  parameters: { events: ['message.received'] },
};

export const CALL_TRIGGER: ChainNode = {
  name: 'Tool',
  type: 'conversationServiceAgentCallTrigger',
  parameters: { toolName: 'say_hello', toolDescription: 'Says hello to the customer' },
};

export const AGENT_TRIGGER: ChainNode = {
  name: 'Turns',
  type: 'conversationServiceAgentTrigger',
};

export const REPLY: ChainNode = {
  name: 'Answer',
  type: 'conversationService',
  parameters: { resource: 'agentTurn', operation: 'reply', text: 'Hello' },
};

export const SEND_MESSAGE: ChainNode = {
  name: 'Send',
  type: 'conversationService',
  parameters: { resource: 'conversation', operation: 'sendMessage', text: 'Hello' },
};

export const GET_CONVERSATION: ChainNode = {
  name: 'Get',
  type: 'conversationService',
  parameters: { resource: 'conversation', operation: 'get' },
};

export const MANUAL_TRIGGER: ChainNode = { name: 'Start', type: 'n8n-nodes-base.manualTrigger' };

/** Makes a workflow of these nodes in a row. Our nodes get the stage's credential. */
export async function makeChain(
  { n8n, credential }: Stage,
  name: string,
  ...chain: ChainNode[]
): Promise<Workflow> {
  const { id, type } = credential;
  const nodes = chain.map((node, index) => {
    const isOurs = !node.type.includes('.');
    return {
      id: randomUUID(),
      name: node.name,
      type: isOurs ? `n8n-nodes-conversation-service.${node.type}` : node.type,
      typeVersion: 1,
      position: [index * 300, 0],
      parameters: node.parameters ?? {},
      webhookId: randomUUID(),
      ...(isOurs && { credentials: { [type]: { id, name: credential.name } } }),
    };
  });
  const connections = Object.fromEntries(
    chain.slice(1).map((node, index) => {
      const previous = chain[index]!;
      return [previous.name, { main: [[{ node: node.name, type: 'main', index: 0 }]] }];
    }),
  );
  const settings = { executionOrder: 'v1' };
  return await n8n.api('POST', '/workflows', { name, nodes, connections, settings });
}
