import type { ServiceStore } from '../domain/collections.ts';
import { KeyedListeners } from '../http/keyedListeners.ts';
import type { Change } from '../store/store.ts';

/**
 * Tells open pages of the team what has changed in their workspace. One reader of the change feed
 * serves them all.
 */
export interface LiveFeed {
  /**
   * @param listener gets each change; null when changes were missed: load again. Returns the way to
   * stop.
   */
  listen(workspaceId: string, listener: (change: Change | null) => void): () => void;
}

/** @param signal ends the feed */
export function followWorkspaces(store: ServiceStore, signal: AbortSignal): LiveFeed {
  const listeners = new KeyedListeners<Change | null>();
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) listeners.tellAll(null);
      // What was removed no longer says whose it was; no more is told than that a list may have
      // changed.
      else if (change.document === null) listeners.tellAll(change as Change);
      else {
        const { workspaceId } = change.document as { workspaceId?: string };
        if (workspaceId !== undefined) listeners.tell(workspaceId, change as Change);
      }
    }
  })();
  return listeners;
}
