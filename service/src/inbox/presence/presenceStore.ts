import { collection } from '../../store/store.ts';
import type { Presence } from './presence.ts';

declare module '../../store/collections.ts' {
  interface Collections {
    presences: Presence;
  }
}

export const presenceCollections = {
  presences: collection<Presence>({
    indexes: [
      { on: ['conversationId'] },
      { on: ['memberId'] },
      { on: ['kind'], orderBy: 'expiresAt' },
    ],
  }),
};
