import { systemClock } from '../../service/src/platform/clock.ts';
import { createApiKey } from '../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../service/src/team/operations/team.ts';
import { openStoreOf } from '../helpers/openStore.ts';
import type { Storage } from '../helpers/storage.ts';

/** A workspace and its API key. */
export interface MadeWorkspace {
  readonly slug: string;
  readonly key: string;
}

/**
 * Makes a workspace as the command line does: in a folder on which no service runs, or in a
 * database at any time.
 */
export async function makeWorkspace(env: Storage['env'], name: string): Promise<MadeWorkspace> {
  const store = await openStoreOf(env);
  const deps = { store, clock: systemClock };
  try {
    const workspace = await createWorkspace(deps, name);
    const { key } = await createApiKey(deps, workspace, { name: 'Key', createdBy: 'test' });
    return { slug: workspace.slug, key };
  } finally {
    await store.close();
  }
}
