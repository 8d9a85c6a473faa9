import { InvalidArgumentError, type Command } from 'commander';
import { systemClock } from '../platform/clock.ts';
import type { ServiceStore } from '../store/collections.ts';
import { AREA_PERMISSIONS, isExpired, type ApiKey, type AreaPermission } from '../team/apiKey.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../team/operations/apiKeys.ts';
import { createWorkspace, findWorkspace } from '../team/operations/team.ts';
import type { Workspace } from '../team/workspace.ts';
import { parseName, withStore } from './command.ts';

interface NewKeyOptions {
  readonly name: string;
  readonly workspace?: string;
  readonly revealContacts: boolean;
  readonly allow?: readonly AreaPermission[];
  readonly expiresIn?: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_DAYS = 3650;

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
    .requiredOption(
      '--name <name>',
      'shown as the sender of messages that the key sends',
      parseName,
    )
    .option('--workspace <slug>', 'the workspace; by default the oldest one')
    .option(
      '--reveal-contacts',
      'lets the key read phone numbers and e-mails in the clear (contacts:reveal)',
      false,
    )
    .option(
      '--allow <permissions>',
      'the only calls that it may make, such as conversations:read,tools:write; by default all',
      parsePermissions,
    )
    .option('--expires-in <days>', 'when it expires; by default never', parseDays)
    .action(({ name, workspace: slug, revealContacts, allow, expiresIn }: NewKeyOptions) =>
      withDeps(async (deps) => {
        const workspace =
          (await findWorkspace(deps, slug)) ??
          (slug === undefined ? await createWorkspace(deps, 'Workspace') : noWorkspace(slug));
        const { key: newKey, apiKey } = await createApiKey(deps, workspace, {
          name,
          createdBy: 'command line',
          permissions: revealContacts ? ['contacts:reveal'] : [],
          limitedTo: allow ?? null,
          expiresAt:
            expiresIn === undefined
              ? null
              : new Date(deps.clock.now().getTime() + expiresIn * DAY_MS),
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
          process.stdout.write(`${describe(each, deps.clock.now())}\n`);
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

/** A key on one line. */
function describe(key: ApiKey, now: Date): string {
  const { id, prefix, lastFour, name, createdAt, createdBy, lastUsedAt, lastUsedFrom } = key;
  return [
    id,
    `${prefix}…${lastFour}`,
    JSON.stringify(name),
    `created ${createdAt} by ${createdBy}`,
    `last used ${lastUsedAt ?? 'never'}${lastUsedFrom ? ` from ${lastUsedFrom}` : ''}`,
    ...(key.limitedTo ?? []),
    ...(key.permissions ?? []),
    stateOf(key, now),
  ].join('  ');
}

function stateOf({ revokedAt, expiresAt = null }: ApiKey, now: Date): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt === null) return 'active';
  return isExpired({ expiresAt }, now) ? `expired ${expiresAt}` : `active until ${expiresAt}`;
}

function parsePermissions(text: string): readonly AreaPermission[] {
  const words = text.split(',').map((each) => each.trim());
  const unknown = words.find((each) => !AREA_PERMISSIONS.some((known) => known === each));
  if (unknown === undefined) return words as AreaPermission[];
  throw new InvalidArgumentError(
    `${JSON.stringify(unknown)} is not a permission. Permissions: ${AREA_PERMISSIONS.join(', ')}.`,
  );
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d{1,4}$/.test(text) && days >= 1 && days <= MAX_DAYS) return days;
  throw new InvalidArgumentError(`Enter a number of days from 1 to ${MAX_DAYS}.`);
}

async function getWorkspace(deps: KeyDeps, slug: string | undefined): Promise<Workspace> {
  return (await findWorkspace(deps, slug)) ?? noWorkspace(slug);
}

function noWorkspace(slug: string | undefined): never {
  throw new Error(
    slug === undefined
      ? 'There is no workspace yet. Start the service once, or create a key.'
      : `There is no workspace ${JSON.stringify(slug)}. \`workspace list\` shows the slugs.`,
  );
}

const withDeps = (run: (deps: KeyDeps) => Promise<void>): Promise<void> =>
  withStore((store) => run({ store, clock: systemClock }));
