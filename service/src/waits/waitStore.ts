import { collection } from '../store/store.ts';
import type { Wait } from './wait.ts';

declare module '../store/collections.ts' {
  interface Collections {
    waits: Wait;
  }
}

export const waitCollections = {
  waits: collection<Wait>({
    indexes: [
      { on: [] },
      { on: ['workspaceId'] },
      { on: ['workspaceId', 'status'] },
      { on: ['workspaceId', 'kind'] },
      { on: ['workspaceId', 'kind', 'status'] },
      { on: ['workspaceId', 'resumeUrlHash'] },
      { on: ['conversationId'] },
      { on: ['conversationId'], orderBy: 'afterMessage' },
      { on: ['conversationId', 'status'] },
      { on: ['status', 'kind'] },
    ],
  }),
};
