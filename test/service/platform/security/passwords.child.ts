// Hashes a password. Given the path of a pipe, hashes while every thread that opens files waits for
// that pipe.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { unwatchedBounds } from '../../../../service/src/platform/limits/bounds.ts';
import { PasswordThreads } from '../../../../service/src/platform/security/passwords.ts';

const passwords = new PasswordThreads({ bounds: unwatchedBounds, log: console });
const pipe = process.argv[2];
if (pipe === undefined) {
  await passwords.hash('a password');
  console.log('hashed');
} else {
  await Promise.all([passwords.hash('one'), passwords.hash('two')]); // a thread's start reads files
  execFileSync('mkfifo', [pipe]);
  const done: string[] = [];
  const opening = open(pipe, 'r').then((file) => (done.push('the file was opened'), file.close()));
  await Promise.all([passwords.hash('three'), passwords.hash('four')]);
  done.push('hashed');
  closeSync(openSync(pipe, 'w'));
  await opening;
  console.log(done.join(', then '));
}
