// A command of the service in the tests' own process, for tests of what it does and prints: a
// process of its own takes half a second of CPU time. That a command run as a process fails with
// one line is tested in test/service/moving/commands.test.ts and test/service/app/process.test.ts.
import { jest } from '@jest/globals';
import type { Command } from 'commander';
import { errorLine } from '../../service/src/cli/command.ts';
import { createCommandLine } from '../../service/src/cli/commandLine.ts';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a command that reads no standard input. Run one at a time: it sets this process's
 * environment and catches what this process writes.
 */
export async function commandHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  let [out, err] = ['', ''];
  const streams = [
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true)),
  ];
  const before = process.env;
  process.env = { ...before, ...env };
  try {
    await throwing(createCommandLine()).parseAsync(args, { from: 'user' });
    return { code: 0, out, err };
  } catch (error) {
    return { code: 1, out, err: err + errorLine(error as Error) };
  } finally {
    process.env = before;
    for (const stream of streams) stream.mockRestore();
  }
}

/** Makes Commander throw where it would end the process, such as for an unknown option. */
function throwing(command: Command): Command {
  command.exitOverride();
  command.commands.forEach(throwing);
  return command;
}
