// Loaded into the service by `npm run bench -- --profile`: SIGUSR2 begins a CPU profile, the next
// one writes it.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

const session = new Session();
session.connect();
let isRunning = false;
let written = 0;

process.on('SIGUSR2', async () => {
  isRunning = !isRunning;
  if (isRunning) {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 500 });
    await session.post('Profiler.start');
  } else {
    const { profile } = await session.post('Profiler.stop');
    written += 1;
    const file = join(process.env.BENCH_PROFILES!, `service-${process.pid}-${written}.cpuprofile`);
    // Renamed when it is whole: the bench waits for the name.
    writeFileSync(`${file}.part`, JSON.stringify(profile));
    renameSync(`${file}.part`, file);
  }
});
