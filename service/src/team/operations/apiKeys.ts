import {
  API_KEY_PREFIX,
  hashToken,
  newApiKey,
  API_KEY_PATTERN,
} from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, notFound } from '../../platform/http/errorCatalogue.ts';
import { following, type From } from '../../platform/http/page.ts';
import { newId } from '../../platform/ids.ts';
import { isValid, type ApiKey, type AreaPermission, type KeyPermission } from '../apiKey.ts';
import type { Workspace } from '../workspace.ts';

/** How many valid keys a workspace may have: enough for one in each workflow. */
export const MAX_API_KEYS = 100;
const PAGE = 500;
/** "Last used" is exact to the minute, so that most calls write nothing. */
const PRECISION_MS = 60_000;

/**
 * Makes an API key.
 * @param limitedTo the only parts of the API that it may call; by default all of them
 * @param expiresAt when it ends; by default never
 * @param given a key to use instead of a new one (BOOTSTRAP_API_KEY)
 * @returns the key itself, shown only this once, and the record that is stored
 * @throws invalid_request (400) when the workspace has as many as it may
 */
export const createApiKey = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  {
    name,
    createdBy,
    permissions = [],
    limitedTo = null,
    expiresAt = null,
    given,
  }: {
    name: string;
    createdBy: string;
    permissions?: readonly KeyPermission[];
    limitedTo?: readonly AreaPermission[] | null;
    expiresAt?: Date | null;
    given?: string;
  },
) => {
  const key = given ?? newApiKey();
  return store.transaction(async (tx): Promise<{ key: string; apiKey: ApiKey }> => {
    await tx.workspaces.get(workspace.id); // locks the workspace, so that the limit holds
    const now = clock.now();
    if ((await countInUse(tx, workspace, now)) >= MAX_API_KEYS) throw limitReached();
    const apiKey: ApiKey = {
      id: newId('key'),
      workspaceId: workspace.id,
      name,
      hash: hashToken(key),
      prefix: API_KEY_PREFIX,
      lastFour: key.slice(-4),
      permissions,
      limitedTo,
      createdBy,
      createdAt: timestamp(now),
      expiresAt: expiresAt && timestamp(expiresAt),
      lastUsedAt: null,
      lastUsedFrom: null,
      revokedAt: null,
    };
    await tx.apiKeys.put(apiKey);
    return { key, apiKey };
  });
};

const limitReached = () =>
  new AppError(
    'invalid_request',
    `A workspace has at most ${MAX_API_KEYS} API keys. Revoke one that is no longer used.`,
    { param: 'name' },
  );

const countInUse = async (tx: Tx, workspace: Workspace, now: Date): Promise<number> =>
  (await keysOf(tx, workspace)).filter((key) => isValid(key, now)).length;

/** The workspace's keys, oldest first. Revoked and expired ones stay, however many there are. */
async function keysOf(tx: Tx, { id: workspaceId }: Workspace): Promise<readonly ApiKey[]> {
  const keys: ApiKey[] = [];
  for (let from: From | null = {}; from !== null; ) {
    const page: readonly ApiKey[] = await tx.apiKeys.find({
      where: { workspaceId },
      limit: PAGE,
      ...from,
    });
    keys.push(...page);
    from = following(page, PAGE);
  }
  return keys;
}

/**
 * Finds a key and its workspace; null when there is no such key or it was revoked. It may have
 * expired. Runs on every call, so it locks and writes nothing.
 */
export const findApiKey = async ({ store }: Pick<Deps, 'store'>, key: string) => {
  if (!API_KEY_PATTERN.test(key)) return null;
  return store.transaction(async (tx): Promise<{ apiKey: ApiKey; workspace: Workspace } | null> => {
    const [apiKey] = await tx.apiKeys.find({ where: { hash: hashToken(key) }, limit: 1 });
    if (!apiKey || apiKey.revokedAt !== null) return null;
    const workspace = await tx.workspaces.peek(apiKey.workspaceId);
    return workspace && { apiKey, workspace };
  });
};

/** Whether the last recorded use is so recent that another one is not recorded. */
export const isUseNoted = ({ lastUsedAt }: ApiKey, now: Date): boolean =>
  lastUsedAt !== null && Math.abs(now.getTime() - Date.parse(lastUsedAt)) < PRECISION_MS;

/**
 * Notes that a key was used, and from which address. It has its own transaction: calls with the same
 * key do not wait for each other.
 */
export const noteKeyUse = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id }: ApiKey,
  address: string,
) =>
  store.transaction(async (tx): Promise<void> => {
    const now = clock.now();
    const apiKey = await tx.apiKeys.get(id);
    if (apiKey && !isUseNoted(apiKey, now))
      await tx.apiKeys.put({ ...apiKey, lastUsedAt: timestamp(now), lastUsedFrom: address });
  });

/** The workspace's keys, revoked ones included, oldest first. */
export const listApiKeys = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
): Promise<readonly ApiKey[]> => store.transaction((tx) => keysOf(tx, workspace));

/** @throws not_found (404) */
export const getApiKey = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  id: string,
): Promise<ApiKey> =>
  store.transaction(async (tx) => {
    const apiKey = await tx.apiKeys.peek(id);
    if (apiKey?.workspaceId !== workspace.id) throw notFound('API key', id);
    return apiKey;
  });

/**
 * Renames a key or changes when it ends. What it may do never changes.
 * @param changes.expiresAt when it ends; null: never; left out: as before
 * @throws not_found (404), also for one that was revoked
 */
export const changeApiKey = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  id: string,
  { name, expiresAt }: { readonly name: string; readonly expiresAt?: Date | null | undefined },
) =>
  store.transaction(async (tx): Promise<ApiKey> => {
    await tx.workspaces.get(workspace.id); // locks the workspace, so that the limit holds
    const before = await tx.apiKeys.get(id);
    if (before?.workspaceId !== workspace.id || before.revokedAt !== null)
      throw notFound('API key', id);
    const end = expiresAt === undefined ? before.expiresAt : expiresAt && timestamp(expiresAt);
    const changed: ApiKey = { ...before, name, expiresAt: end ?? null };
    const now = clock.now();
    const isRenewed = !isValid(before, now) && isValid(changed, now);
    if (isRenewed && (await countInUse(tx, workspace, now)) >= MAX_API_KEYS) throw limitReached();
    await tx.apiKeys.put(changed);
    return changed;
  });

/** Revokes a key, at once and for good; a revoked one stays as it was. @throws not_found (404) */
export const revokeApiKey = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  id: string,
) =>
  store.transaction(async (tx): Promise<ApiKey> => {
    const apiKey = await tx.apiKeys.get(id);
    if (!apiKey || apiKey.workspaceId !== workspace.id) throw notFound('API key', id);
    if (apiKey.revokedAt !== null) return apiKey;
    const revoked = { ...apiKey, revokedAt: timestamp(clock.now()) };
    await tx.apiKeys.put(revoked);
    return revoked;
  });
