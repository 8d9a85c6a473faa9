import type { Command } from 'commander';
import { readConfig } from '../app/config.ts';
import { systemClock } from '../platform/clock.ts';
import { inOneTransaction } from '../platform/deps.ts';
import { createInvite } from '../team/operations/invites.ts';
import { createWorkspace, listWorkspaces } from '../team/operations/team.ts';
import { addressOf, parseName, withStore } from './command.ts';

/** Recorded as the inviting member. */
const COMMAND_LINE = { id: 'command line', name: 'command line' };

/** `conversation-service workspace create|list`: works on the store that the environment names. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program
    .command('workspace')
    .description('workspaces: each has its own team, keys, conversations and subscriptions');

  workspace
    .command('create')
    .description('create a workspace and a link for its first member')
    .requiredOption(
      '--name <name>',
      'its name; the slug in chat addresses and payloads derives from it',
      parseName,
    )
    .action(({ name }: { name: string }) => create(name));

  workspace
    .command('list')
    .description('list the workspaces, the oldest first')
    .action(() => list());
}

async function create(name: string): Promise<void> {
  const address = addressOf(readConfig(process.env));
  const { workspace, token } = await withStore((store) =>
    inOneTransaction({ store, clock: systemClock }, async (deps) => {
      const made = await createWorkspace(deps, name);
      const invite = await createInvite(
        deps,
        { ...COMMAND_LINE, workspaceId: made.id },
        'the first member',
        'owner',
      );
      return { workspace: made, token: invite.token };
    }),
  );
  process.stdout.write(`${workspace.slug}\n`);
  process.stderr.write(
    `Workspace ${workspace.id}. Its chat page is at ${address}/chat?workspace=${workspace.slug}\n` +
      `Link for its first member, valid once and for seven days: ${address}/join?token=${token}\n` +
      `To create a key for it: conversation-service key create --workspace ${workspace.slug} --name n8n\n`,
  );
}

async function list(): Promise<void> {
  const workspaces = await withStore((store) => listWorkspaces({ store }));
  for (const { id, slug, name, createdAt } of workspaces)
    process.stdout.write(`${id}  ${slug}  ${JSON.stringify(name)}  created ${createdAt}\n`);
}
