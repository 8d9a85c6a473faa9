import { collection } from '../store/store.ts';
import type { Tool } from './tool.ts';
import type { ToolCall } from './calls/toolCall.ts';

declare module '../store/collections.ts' {
  interface Collections {
    tools: Tool;
    toolCalls: ToolCall;
  }
}

export const toolCollections = {
  tools: collection<Tool>({
    indexes: [
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'name'], unique: true },
    ],
  }),
  toolCalls: collection<ToolCall>({
    indexes: [
      { on: [] },
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'tool'] },
      { on: ['conversationId'] },
      { on: ['conversationId'], orderBy: 'afterMessage' },
      { on: ['conversationId', 'status'] },
      { on: ['conversationId', 'isTold'] },
      { on: ['toolId'] },
      { on: ['toolId', 'status'] },
      { on: ['hasLargeResult'] },
    ],
  }),
};
