import { Command } from 'commander';
import { VERSION } from '../platform/version.ts';
import { addBackupCommand } from './backupCommand.ts';
import { failInOneLine } from './command.ts';
import { addExportCommand } from './exportCommand.ts';
import { addImportCommand } from './importCommand.ts';
import { addKeyCommands } from './keyCommands.ts';
import { addMemberCommands } from './memberCommands.ts';
import { addRestoreCommand } from './restoreCommand.ts';
import { addRotateKeyCommand } from './rotateKeyCommand.ts';
import { addVerifyCommand } from './verifyCommand.ts';
import { addWorkspaceCommands } from './workspaceCommands.ts';

/**
 * Runs the command that this process was started with. If it fails, the process exits with one line
 * that says why.
 */
export async function runCommandLine(): Promise<void> {
  await createCommandLine().parseAsync().catch(failInOneLine);
}

/** All commands. Without arguments, the service runs. */
export function createCommandLine(): Command {
  const program = new Command('conversation-service').description(
    'Conversations of customers with an agent and a team',
  );
  program.version(VERSION);
  program
    .command('start', { isDefault: true })
    .description('run the service (the default)')
    // Commands and options that do not exist come here too.
    .allowExcessArguments()
    .allowUnknownOption()
    .action(async (_options: unknown, { args: [extra] }: Command) => {
      if (extra !== undefined)
        throw new Error(
          `There is no command or option ${JSON.stringify(extra)}. \`conversation-service --help\` lists all.`,
        );
      // Loaded here, since the other commands start in half the time without it.
      const { runService } = await import('./runService.ts');
      await runService();
    });
  addKeyCommands(program);
  addWorkspaceCommands(program);
  addMemberCommands(program);
  addRotateKeyCommand(program);
  addBackupCommand(program);
  addRestoreCommand(program);
  addVerifyCommand(program);
  addExportCommand(program);
  addImportCommand(program);
  return program;
}
