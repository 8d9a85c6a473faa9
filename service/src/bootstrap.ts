import type { Config } from './config.ts';
import type { Deps } from './domain/deps.ts';
import { inOneTransaction } from './domain/inOneTransaction.ts';
import { createApiKey } from './domain/operations/createApiKey.ts';
import { createMember } from './domain/operations/createMember.ts';
import { createWorkspace } from './domain/operations/createWorkspace.ts';
import { startSession } from './domain/operations/signIn.ts';
import { findWorkspace } from './domain/operations/findWorkspace.ts';
import { hashPassword } from './security/passwords.ts';
import { hashToken, newSetupToken } from './security/tokens.ts';

const DEFAULT_WORKSPACE = 'Workspace';

/**
 * On an empty store makes what the BOOTSTRAP variables say. Without them, while the team has no
 * member, gives the token of the one-time link that makes the first in a browser; a new one at each start.
 */
export async function bootstrap(deps: Deps, { bootstrap: given }: Pick<Config, 'bootstrap'>): Promise<{ setupToken: string | null }> {
  const isGiven = Object.values(given).some((value) => value !== undefined);
  if (!isGiven) return { setupToken: (await hasMember(deps)) ? null : newSetupToken() };
  if (await findWorkspace(deps)) return { setupToken: null };

  const { adminEmail, adminPassword, apiKey } = given;
  const passwordHash = adminPassword === undefined ? null : await hashPassword(adminPassword);
  await inOneTransaction(deps, async (within) => {
    const workspace = await createWorkspace(within, given.workspace ?? DEFAULT_WORKSPACE);
    if (apiKey !== undefined) await createApiKey(within, workspace, { name: 'Bootstrap key', createdBy: 'environment', given: apiKey });
    if (adminEmail !== undefined && passwordHash !== null) {
      await createMember(within, workspace, { name: adminEmail.split('@')[0]!, email: adminEmail, passwordHash });
    }
  });
  return { setupToken: null };
}

const hasMember = ({ store }: Deps) =>
  store.transaction(async (tx) => {
    const workspaces = await tx.workspaces.find({ where: {}, limit: 1 });
    const members = workspaces[0] ? await tx.members.find({ where: { workspaceId: workspaces[0].id }, limit: 1 }) : [];
    return members.length > 0;
  });

/** What the one-time link makes. */
export interface FirstSetup {
  readonly workspaceName: string;
  readonly memberName: string;
  readonly email: string;
  readonly password: string;
}

/** The one-time link's state: it works while its token is unused. */
export function oneTimeSetup(deps: Deps, token: string | null) {
  let expected = token === null ? null : hashToken(token);
  return {
    /** True while this token can be used. */
    isValid: (candidate: string): boolean => expected !== null && hashToken(candidate) === expected,
    /** The workspace that a key made on the command line has made already. */
    workspaceName: async (): Promise<string | null> => (await findWorkspace(deps))?.name ?? null,
    /** @returns the first API key and the first member's session, or null when the token was used meanwhile */
    async complete(candidate: string, setup: FirstSetup): Promise<{ key: string; sessionToken: string } | null> {
      if (expected === null || hashToken(candidate) !== expected) return null;
      const unused = expected;
      expected = null; // a second click while this one runs finds the link used
      try {
        const passwordHash = await hashPassword(setup.password);
        return await inOneTransaction(deps, async (within) => {
          // A key made on the command line has made the workspace already.
          const workspace = (await findWorkspace(within)) ?? (await createWorkspace(within, setup.workspaceName));
          const member = await createMember(within, workspace, { name: setup.memberName, email: setup.email, passwordHash });
          const { key } = await createApiKey(within, workspace, { name: 'First key', createdBy: setup.memberName });
          return { key, sessionToken: await startSession(within, member) };
        });
      } catch (error) {
        expected = unused;
        throw error;
      }
    },
  };
}
