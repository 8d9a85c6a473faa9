// Starts a server, says where it is, and never ends by itself.
import { startPostgres } from './server.ts';

const server = await startPostgres({ fsync: false });
process.stdout.write(
  `${JSON.stringify({ url: server.url, pid: server.pid, logFile: server.logFile })}\n`,
);
setInterval(() => {}, 60_000);
