// The service, set up by the environment as always, over files that kill it: DIE_AT is a DyingPoint
// as JSON, DIE_ARMED a file that has to exist for it. Snapshots are early, so that many writes meet
// one.
import { readConfig } from '../../../service/src/app/config.ts';
import { startService } from '../../../service/src/app/service.ts';
import { dyingFiles, type DyingPoint } from './dyingFiles.ts';

const files = dyingFiles(
  JSON.parse(process.env['DIE_AT']!) as DyingPoint,
  process.env['DIE_ARMED']!,
);
const service = await startService(readConfig(process.env), {
  store: { files, snapshotAfterBytes: 30_000 },
});
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
