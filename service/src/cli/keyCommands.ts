import type { Command } from 'commander';
import { systemClock } from '../platform/clock.ts';
import type { ServiceStore } from '../store/collections.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../team/operations/apiKeys.ts';
import { createWorkspace, findWorkspace } from '../team/operations/team.ts';
import type { Workspace } from '../team/workspace.ts';
import { runOrFail, withStore } from './command.ts';

interface NewKeyOptions {
  readonly name: string;
  readonly workspace?: string;
  readonly revealContacts: boolean;
}

interface KeyDeps {
  readonly store: ServiceStore;
  readonly clock: typeof systemClock;
}

/**
 * `conversation-service key create|list|revoke`: works on the data folder of a stopped service, or
 * on a database at any time.
 */
export function addKeyCommands(program: Command): void {
  const key = program
    .command('key')
    .description('API keys (DATA_DIR: while the service is stopped; DATABASE_URL: at any time)');

  key
    .command('create')
    .description('create an API key and show it, only this once')
    .requiredOption('--name <name>', 'shown as the sender of messages that the key sends')
    .option('--workspace <slug>', 'the workspace; by default the oldest one')
    .option(
      '--reveal-contacts',
      'lets the key read phone numbers and e-mails in the clear (contacts:reveal)',
      false,
    )
    .action(({ name, workspace: slug, revealContacts }: NewKeyOptions) =>
      withDeps(async (deps) => {
        const workspace =
          (await findWorkspace(deps, slug)) ??
          (slug === undefined ? await createWorkspace(deps, 'Workspace') : noWorkspace(slug));
        const { key: newKey, apiKey } = await createApiKey(deps, workspace, {
          name,
          createdBy: 'command line',
          permissions: revealContacts ? ['contacts:reveal'] : [],
        });
        process.stdout.write(`${newKey}\n`);
        process.stderr.write(
          `Key ${apiKey.id} of workspace ${workspace.slug}. It is shown only this once.\n`,
        );
      }),
    );

  key
    .command('list')
    .description('list the keys')
    .option('--workspace <slug>', 'the workspace; by default the oldest one')
    .action(({ workspace: slug }: { workspace?: string }) =>
      withDeps(async (deps) => {
        for (const each of await listApiKeys(deps, await getWorkspace(deps, slug))) {
          const may = (each.permissions ?? []).map((permission) => `${permission}  `).join('');
          const state = each.revokedAt === null ? 'active' : `revoked ${each.revokedAt}`;
          process.stdout.write(
            `${each.id}  ${each.prefix}…${each.lastFour}  ${JSON.stringify(each.name)}  created ${each.createdAt} by ${each.createdBy}  last used ${each.lastUsedAt ?? 'never'}  ${may}${state}\n`,
          );
        }
      }),
    );

  key
    .command('revoke')
    .description('revoke a key, at once and permanently')
    .argument('<id>', 'key_…, from `key list`')
    .option('--workspace <slug>', 'the workspace; by default the oldest one')
    .action((id: string, { workspace: slug }: { workspace?: string }) =>
      withDeps(async (deps) => {
        const revoked = await revokeApiKey(deps, await getWorkspace(deps, slug), id);
        process.stdout.write(`${revoked.id} was revoked at ${revoked.revokedAt}.\n`);
      }),
    );
}

async function getWorkspace(deps: KeyDeps, slug: string | undefined): Promise<Workspace> {
  return (await findWorkspace(deps, slug)) ?? noWorkspace(slug);
}

function noWorkspace(slug: string | undefined): never {
  throw new Error(
    slug === undefined
      ? 'There is no workspace yet. Start the service once, or create a key.'
      : `There is no workspace ${JSON.stringify(slug)}.`,
  );
}

const withDeps = (run: (deps: KeyDeps) => Promise<void>): Promise<void> =>
  runOrFail(() => withStore((store) => run({ store, clock: systemClock })));
