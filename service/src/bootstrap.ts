import type { Config } from './config.ts';
import type { Deps } from './domain/deps.ts';
import { inOneTransaction } from './domain/inOneTransaction.ts';
import { createApiKey } from './domain/operations/createApiKey.ts';
import { createMember } from './domain/operations/createMember.ts';
import { createWorkspace } from './domain/operations/createWorkspace.ts';
import { findWorkspace } from './domain/operations/findWorkspace.ts';
import { hashPassword } from './security/passwords.ts';
import type { SecretBox } from './security/secretBox.ts';
import { hashToken, newSetupToken } from './security/tokens.ts';

const DEFAULT_WORKSPACE = 'Workspace';

/**
 * Makes sure that the data folder was written with this encryption key.
 * @throws Error that says what to do when it was another
 */
export const checkEncryptionKey = (store: Deps['store'], { fingerprint }: SecretBox) =>
  store.transaction(async (tx) => {
    const known = await tx.settings.get('encryption_key_fingerprint');
    if (!known) await tx.settings.put({ id: 'encryption_key_fingerprint', value: fingerprint });
    else if (known.value !== fingerprint) {
      throw new Error('The encryption key is not the one that this data was written with. Give the former key (ENCRYPTION_KEY, or encryption.key in the data folder), or start with another DATA_DIR.');
    }
  });

/**
 * On an empty store makes what the BOOTSTRAP variables say. Without them, gives the token of the
 * one-time link that does it in a browser; a new one at each start, until it has been used.
 */
export async function bootstrap(deps: Deps, { bootstrap: given }: Pick<Config, 'bootstrap'>): Promise<{ setupToken: string | null }> {
  if (await findWorkspace(deps)) return { setupToken: null };
  if (given.apiKey === undefined && given.adminEmail === undefined && given.workspace === undefined) return { setupToken: newSetupToken() };

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
    /** @returns the first API key, or null when the token was used meanwhile */
    async complete(candidate: string, setup: FirstSetup): Promise<string | null> {
      if (expected === null || hashToken(candidate) !== expected) return null;
      const unused = expected;
      expected = null; // a second click while this one runs finds the link used
      try {
        const passwordHash = await hashPassword(setup.password);
        return await inOneTransaction(deps, async (within) => {
          const workspace = await createWorkspace(within, setup.workspaceName);
          await createMember(within, workspace, { name: setup.memberName, email: setup.email, passwordHash });
          return (await createApiKey(within, workspace, { name: 'First key', createdBy: setup.memberName })).key;
        });
      } catch (error) {
        expected = unused;
        throw error;
      }
    },
  };
}
