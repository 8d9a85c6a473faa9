// The service, set up by the environment as always, over files that kill it at the point that the
// file DIE_AT names. Snapshots are early, so that many writes meet one.
import { readConfig } from '../../../service/src/app/config.ts';
import { startService } from '../../../service/src/app/service.ts';
import { dyingFiles } from './dyingFiles.ts';

const service = await startService(readConfig(process.env), {
  store: { files: dyingFiles(process.env['DIE_AT']!), snapshotAfterBytes: 30_000 },
});
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
