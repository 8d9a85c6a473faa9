// The built service, with snapshots so frequent that many kills hit one.
import { readConfig } from '../../service/dist/app/config.js';
import { createLogger, startService } from '../../service/dist/app/service.js';

const SNAPSHOT_AFTER_BYTES = 256 << 10;

const config = readConfig(process.env);
const service = await startService(config, {
  log: createLogger(config.logLevel),
  store: { snapshotAfterBytes: SNAPSHOT_AFTER_BYTES },
});
process.once('SIGTERM', async () => {
  await service.stop();
  process.exit(0);
});
