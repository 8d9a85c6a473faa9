import type { ServiceStore } from '../domain/collections.ts';
import { KeyedListeners } from '../http/keyedListeners.ts';
import type { Change } from '../store/store.ts';

/** Tells the team's open pages what changes in their workspace. All pages share one change feed. */
export interface LiveFeed {
  /**
   * @param listener gets each change, or null when changes were missed and everything has to load
   * @returns a function that stops listening
   */
  listen(workspaceId: string, listener: (change: Change | null) => void): () => void;
}

/** @param signal ends the feed */
export function followWorkspaces(store: ServiceStore, signal: AbortSignal): LiveFeed {
  const listeners = new KeyedListeners<Change | null>();
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) listeners.tellAll(null);
      // A removed document no longer has a workspace. Listeners only learn that a list may have changed.
      else if (change.document === null) listeners.tellAll(change as Change);
      else {
        const { workspaceId } = change.document as { workspaceId?: string };
        if (workspaceId !== undefined) listeners.tell(workspaceId, change as Change);
      }
    }
  })();
  return listeners;
}
