import type { Config } from './config.ts';
import type { Setting, Tx } from './domain/collections.ts';
import type { Deps } from './domain/deps.ts';
import { inOneTransaction } from './domain/inOneTransaction.ts';
import { createApiKey } from './domain/operations/createApiKey.ts';
import { createMember } from './domain/operations/createMember.ts';
import { createWorkspace } from './domain/operations/createWorkspace.ts';
import { startSession } from './domain/operations/signIn.ts';
import { findWorkspace } from './domain/operations/findWorkspace.ts';
import { hashToken, newSetupToken } from './security/tokens.ts';

const DEFAULT_WORKSPACE = 'Workspace';

/**
 * The setting that holds the hashes of the set-up links that work, the newest first. Locked by
 * whoever sets the store up.
 */
const SETUP_LINKS = 'setup_links';
/** Each process that starts prints its own; the oldest go. */
const MAX_SETUP_LINKS = 20;

/**
 * On an empty store makes what the BOOTSTRAP variables say, once, however many processes start at
 * the same time. Without them, while the team has no member, gives the token of a one-time link
 * that makes the first in a browser; a new one at each start. Every process takes the links of all;
 * one that shows no pages has none.
 */
export async function bootstrap(
  deps: Deps,
  { bootstrap: given, role }: Pick<Config, 'bootstrap' | 'role'>,
): Promise<{ setupToken: string | null }> {
  const isGiven = Object.values(given).some((value) => value !== undefined);
  if (!isGiven) return { setupToken: role === 'worker' ? null : await offerSetup(deps) };
  if (await findWorkspace(deps)) return { setupToken: null };
  const { adminEmail, adminPassword, apiKey } = given;
  const passwordHash =
    adminPassword === undefined ? null : await deps.passwords.hash(adminPassword);
  await inOneTransaction(deps, async (within, tx) => {
    await tx.settings.get(SETUP_LINKS); // locked: of several processes one makes it
    if (await findWorkspace(within)) return;
    const workspace = await createWorkspace(within, given.workspace ?? DEFAULT_WORKSPACE);
    if (apiKey !== undefined)
      await createApiKey(within, workspace, {
        name: 'Default key',
        createdBy: 'environment',
        given: apiKey,
      });
    if (adminEmail !== undefined && passwordHash !== null) {
      await createMember(within, workspace, {
        name: adminEmail.split('@')[0]!,
        email: adminEmail,
        passwordHash,
      });
    }
  });
  return { setupToken: null };
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

/** What the one-time link makes. */
export interface FirstSetup {
  readonly workspaceName: string;
  readonly memberName: string;
  readonly email: string;
  readonly password: string;
}

/**
 * What the one-time links do. They are kept in the store, so that any process takes each of them,
 * and all of them once.
 */
export function oneTimeSetup(deps: Deps) {
  const isUnused = async (tx: Tx, setting: Setting | null, token: string) =>
    linksIn(setting).includes(hashToken(token)) && !(await hasMember(tx));
  /** True while this token can be used. */
  const isValid = (token: string): Promise<boolean> =>
    deps.store.transaction(async (tx) => isUnused(tx, await tx.settings.peek(SETUP_LINKS), token));
  return {
    isValid,
    /** The workspace that a key made on the command line has made already. */
    workspaceName: async (): Promise<string | null> => (await findWorkspace(deps))?.name ?? null,
    /**
     * @returns the first API key and the first member's session, or null when a link was used
     * meanwhile
     */
    async complete(
      token: string,
      setup: FirstSetup,
    ): Promise<{ key: string; sessionToken: string } | null> {
      if (!(await isValid(token))) return null;
      const passwordHash = await deps.passwords.hash(setup.password);
      return inOneTransaction(deps, async (within, tx) => {
        // locked: of two clicks one makes it
        if (!(await isUnused(tx, await tx.settings.get(SETUP_LINKS), token))) return null;
        await tx.settings.delete(SETUP_LINKS);
        // A key made on the command line has made the workspace already.
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
        return { key, sessionToken: await startSession(within, member) };
      });
    },
  };
}
