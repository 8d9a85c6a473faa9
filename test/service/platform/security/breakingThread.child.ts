// Stands in for the thread that hashes passwords, and breaks when the password says so.
import { parentPort } from 'node:worker_threads';

parentPort!.on('message', ({ password }: { password: string }) => {
  if (password === 'throw') throw new Error('told to break');
  if (password === 'exit') process.exit(1);
  if (password !== 'hang') parentPort!.postMessage({ value: password });
});
