// The service, started as its command starts it, over a disk that gets into trouble as STALL says:
// `snapshot`: each write of a snapshot takes two seconds;
// `full-from-signal`: after SIGUSR2, every write fails;
// `fsync-from-signal`: after SIGUSR2, no fsync ends.
import { readConfig } from '../../../service/src/app/config.ts';
import { createLogger, startService } from '../../../service/src/app/service.ts';
import { nodeFiles, type Files, type StoreFile } from '../../../service/src/store/lowdb/index.ts';

const say = (text: string) => void process.stdout.write(`${text}\n`);
const kind = process.env['STALL'];
let inTrouble = false;
process.on('SIGUSR2', () => {
  inTrouble = true;
  say(kind === 'full-from-signal' ? 'FULL' : 'HANGS');
});

const troubled = (file: StoreFile, path: string): StoreFile => ({
  ...file,
  async write(bytes, position) {
    if (inTrouble && kind === 'full-from-signal')
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    await file.write(bytes, position);
    if (kind === 'snapshot' && path.includes('snapshot')) {
      say('STALLED');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  },
  async sync() {
    if (inTrouble && kind === 'fsync-from-signal') {
      say('WAITING');
      await new Promise(() => {});
    }
    await file.sync();
  },
});
const files: Files = {
  ...nodeFiles,
  open: async (path, flags) => troubled(await nodeFiles.open(path, flags), path),
};

const log = createLogger('info');
const service = await startService(readConfig(process.env), {
  log,
  store: { files, snapshotAfterBytes: 20_000 },
});
log.info({ url: service.url }, 'running');
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
