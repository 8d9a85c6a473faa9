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
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) for (const each of [...listeners.values()].flatMap((set) => [...set])) each(null);
      else {
        const workspaceId = (change.document as { workspaceId?: string } | null)?.workspaceId;
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
