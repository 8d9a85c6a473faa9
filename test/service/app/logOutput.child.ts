// Writes log lines into the file named by the first argument while it may not grow, then lets it
// grow and writes five more; for `pipe`, writes more into standard output than any pipe holds.
import { execFileSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { LogOutput } from '../../../service/src/app/logOutput.ts';

const target = process.argv[2]!;
const line = (n: number) => `${JSON.stringify({ n, text: 'x'.repeat(50) })}\n`;
if (target === 'pipe') {
  // As after any use of process.stdout with a pipe: writing does not wait.
  process.stdout.write('');
  const output = new LogOutput();
  for (let n = 0; n < 5_000; n += 1) output.write(line(n));
} else {
  const output = new LogOutput(openSync(target, 'w'));
  for (let n = 0; n < 200; n += 1) output.write(line(n));
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
  for (let n = 200; n < 205; n += 1) output.write(line(n));
}
process.exit(0);
