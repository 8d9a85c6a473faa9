// Two workspaces in one service: one whose members and visitors are honest, and one that attacks.
import { systemClock } from '../../service/src/platform/clock.ts';
import { createApiKey } from '../../service/src/team/operations/apiKeys.ts';
import { createMember, createWorkspace } from '../../service/src/team/operations/team.ts';
import type { Workspace } from '../../service/src/team/workspace.ts';
import { apiClient, type ApiClient } from '../helpers/apiClient.ts';
import { MEMBER } from '../helpers/browserless.ts';
import { hashOf } from '../helpers/hashOf.ts';
import { openStoreOf } from '../helpers/openStore.ts';
import type { Storage } from '../helpers/storage.ts';

/** A workspace that is stored before its service runs. */
export interface Prepared {
  readonly slug: string;
  readonly key: string;
  /** The other keys of the workspace. */
  readonly moreKeys: readonly string[];
}

export interface Tenant extends Prepared {
  readonly api: ApiClient;
}

export interface Tenants<T> {
  readonly honest: T;
  readonly hostile: T;
}

/** Makes both workspaces in an empty store. @param hostileKeys how many more keys the hostile one has */
export async function prepareTenants(
  env: Storage['env'],
  hostileKeys = 0,
): Promise<Tenants<Prepared>> {
  const store = await openStoreOf(env);
  const deps = { store, clock: systemClock };
  const prepare = async (
    name: string,
    moreKeyCount: number,
  ): Promise<Prepared & { workspace: Workspace }> => {
    const workspace = await createWorkspace(deps, name);
    const newKey = async (n: number) =>
      (await createApiKey(deps, workspace, { name: `Key ${n}`, createdBy: 'test' })).key;
    const key = await newKey(0);
    const moreKeys: string[] = [];
    for (let n = 1; n <= moreKeyCount; n += 1) moreKeys.push(await newKey(n));
    return { workspace, slug: workspace.slug, key, moreKeys };
  };
  try {
    const honest = await prepare('honest', 0);
    const hostile = await prepare('hostile', hostileKeys);
    await createMember(deps, honest.workspace, {
      name: 'Ana',
      email: MEMBER.email,
      passwordHash: await hashOf(MEMBER.password),
    });
    return { honest, hostile };
  } finally {
    await store.close();
  }
}

export const tenantAt = (url: string, prepared: Prepared): Tenant => ({
  ...prepared,
  api: apiClient(url, prepared.key),
});
