// Loaded into the service under attack (NODE_OPTIONS). At SIGUSR2 it collects garbage and writes
// down how much memory is in use. Resident memory says little, since a process seldom gives memory
// back.
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const file = process.env.ABUSE_MEMORY_FILE;
process.on('SIGUSR2', () => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  setFlagsFromString('--no-expose-gc');
  writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.new`, file);
});
