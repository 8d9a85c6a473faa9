import type { Command } from 'commander';
import { readConfig } from '../app/config.ts';
import { systemClock } from '../platform/clock.ts';
import { createPasswordResetByEmail } from '../team/operations/passwordReset.ts';
import { addressOf, withStore } from './command.ts';

/** `conversation-service member reset-password`: for an owner whom no other owner can help. */
export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('the people of the teams');

  member
    .command('reset-password')
    .description('create a link by which a member chooses another password')
    .requiredOption('--email <email>', 'the one that the member signs in with')
    .action(({ email }: { email: string }) => resetPassword(email));
}

async function resetPassword(email: string): Promise<void> {
  const address = addressOf(readConfig(process.env));
  const { token, member } = await withStore((store) =>
    createPasswordResetByEmail({ store, clock: systemClock }, email, 'command line'),
  );
  process.stdout.write(`${address}/reset-password?token=${token}\n`);
  process.stderr.write(
    `This link lets ${member.name} choose another password, once, within 24 hours.\n`,
  );
}
