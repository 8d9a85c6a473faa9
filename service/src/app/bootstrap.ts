import type { Config } from './config.ts';
import type { Setting } from '../platform/platformStore.ts';
import type { Tx } from '../store/collections.ts';
import { inOneTransaction, type Deps } from '../platform/deps.ts';
import { createApiKey } from '../team/operations/apiKeys.ts';
import { throwEmailTaken } from '../team/operations/invites.ts';
import { recordOwner } from '../team/operations/owner.ts';
import { createMember, createWorkspace, findWorkspace } from '../team/operations/team.ts';
import { startSession } from '../team/operations/sessions.ts';
import type { N8nSetting } from '../team/n8nSetting.ts';
import type { Setup } from '../team/screens/setup.ts';
import { hashToken, newSetupToken } from '../platform/security/tokens.ts';

const DEFAULT_WORKSPACE = 'Workspace';

/** The setting with the hashes of valid set-up links, the newest first. The set-up locks it. */
const SETUP_LINKS = 'setup_links';
/** Each start adds a link; the oldest links are dropped. */
const MAX_SETUP_LINKS = 20;

/**
 * Sets up an empty store from the BOOTSTRAP variables. When several processes start at the same
 * time, only one of them does it. If the variables name no member, the first member sets up the
 * service in a browser, with a one-time link. Every process accepts every link.
 * @returns the token of a new link; null when the team has a member, and on a worker, which shows no
 * pages
 */
export async function bootstrap(
  deps: Deps,
  { bootstrap: given, role }: Pick<Config, 'bootstrap' | 'role'>,
): Promise<string | null> {
  // Data of an earlier version may not name the owner.
  await deps.store.transaction(recordOwner);
  const isGiven = Object.values(given).some((value) => value !== undefined);
  if (isGiven && !(await findWorkspace(deps))) await setUp(deps, given);
  return role === 'worker' ? null : offerSetup(deps);
}

async function setUp(deps: Deps, given: Config['bootstrap']): Promise<void> {
  const { adminEmail, adminPassword, apiKey } = given;
  const passwordHash =
    adminPassword === undefined ? null : await deps.passwords.hash(adminPassword);
  await inOneTransaction(deps, async (within, tx) => {
    await tx.settings.get(SETUP_LINKS); // locks the setting: only one process sets up
    if (await findWorkspace(within)) return;
    const workspace = await createWorkspace(within, given.workspace ?? DEFAULT_WORKSPACE);
    if (apiKey !== undefined)
      await createApiKey(within, workspace, {
        name: 'Default key',
        createdBy: 'environment',
        given: apiKey,
      });
    if (adminEmail !== undefined && passwordHash !== null)
      await createMember(within, workspace, {
        name: adminEmail.split('@')[0]!,
        email: adminEmail,
        passwordHash,
      });
  });
}

/** @returns the token of a new link; null when the team has a member */
const offerSetup = ({ store }: Deps) =>
  store.transaction(async (tx): Promise<string | null> => {
    const earlier = linksIn(await tx.settings.get(SETUP_LINKS));
    if (await hasMember(tx)) return null;
    const token = newSetupToken();
    await tx.settings.put({
      id: SETUP_LINKS,
      value: JSON.stringify([hashToken(token), ...earlier].slice(0, MAX_SETUP_LINKS)),
    });
    return token;
  });

const linksIn = (setting: Setting | null): readonly string[] =>
  setting === null ? [] : (JSON.parse(setting.value) as string[]);

async function hasMember(tx: Tx): Promise<boolean> {
  const workspaces = await tx.workspaces.find({ where: {}, limit: 1 });
  const members = workspaces[0]
    ? await tx.members.find({ where: { workspaceId: workspaces[0].id }, limit: 1 })
    : [];
  return members.length > 0;
}

/** The set-up through a one-time link. The store has the links, so every process accepts them. */
export function oneTimeSetup(deps: Deps, n8n: Pick<N8nSetting, 'put' | 'apply'>): Setup {
  const isUnused = async (tx: Tx, setting: Setting | null, token: string) =>
    linksIn(setting).includes(hashToken(token)) && !(await hasMember(tx));
  const isValid: Setup['isValid'] = (token) =>
    deps.store.transaction(async (tx) => isUnused(tx, await tx.settings.peek(SETUP_LINKS), token));
  return {
    isValid,
    workspaceName: async () => (await findWorkspace(deps))?.name ?? null,
    async complete(token, setup) {
      if (!(await isValid(token))) return null;
      const passwordHash = await deps.passwords.hash(setup.password);
      const created = await inOneTransaction(deps, async (within, tx) => {
        // The get locks the setting, so that only the first of two clicks does this.
        if (!(await isUnused(tx, await tx.settings.get(SETUP_LINKS), token))) return null;
        await tx.settings.delete(SETUP_LINKS);
        // The command line or a BOOTSTRAP variable may have created the workspace.
        const workspace =
          (await findWorkspace(within)) ?? (await createWorkspace(within, setup.workspaceName));
        const member = await createMember(within, workspace, {
          name: setup.memberName,
          email: setup.email,
          passwordHash,
        });
        const { key } = await createApiKey(within, workspace, {
          name: 'First key',
          createdBy: setup.memberName,
        });
        if (setup.n8nOrigin !== undefined) await n8n.put(tx, setup.n8nOrigin, member.name);
        return { key, sessionToken: await startSession(within, member) };
      }).catch(throwEmailTaken);
      await n8n.apply();
      return created;
    },
  };
}
