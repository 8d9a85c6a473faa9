import type { ServiceStore } from '../domain/collections.ts';
import type { Change } from '../store/store.ts';

/** Tells open pages of the team what has changed in their workspace. One reader of the change feed serves them all. */
export interface LiveFeed {
  /** @param listener gets each change; null when changes were missed: load again. Returns the way to stop. */
  listen(workspaceId: string, listener: (change: Change | null) => void): () => void;
}

/** @param signal ends the feed */
export function followWorkspaces(store: ServiceStore, signal: AbortSignal): LiveFeed {
  const listeners = new Map<string, Set<(change: Change | null) => void>>();
  const everybody = () => [...listeners.values()].flatMap((set) => [...set]);
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) for (const each of everybody()) each(null);
      // What was removed no longer says whose it was; no more is told than that a list may have changed.
      else if (change.document === null) for (const each of everybody()) each(change as Change);
      else {
        const workspaceId = (change.document as { workspaceId?: string }).workspaceId;
        for (const each of (workspaceId === undefined ? undefined : listeners.get(workspaceId)) ?? []) each(change as Change);
      }
    }
  })();
  return {
    listen(workspaceId, listener) {
      const set = listeners.get(workspaceId) ?? new Set();
      listeners.set(workspaceId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(workspaceId) === set) listeners.delete(workspaceId);
      };
    },
  };
}
