import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { readConfig, type Config } from '../app/config.ts';
import { createLogger, startService, type Service } from '../app/service.ts';
import { failInOneLine } from './command.ts';

/** Runs the service until SIGTERM or SIGINT; a second signal ends it at once. */
export async function runService(): Promise<void> {
  // Until the service has started, nothing is in flight. The listener is never replaced, since a
  // signal between two listeners would be lost.
  let onSignal = (_signal: string): void => process.exit(0);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => onSignal(signal));
  // A closed output must not end the service.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const npmWatch = endWithNpm();
  const config = readConfig(process.env);
  const log = createLogger(config.logLevel);
  const service = await startService(config, { log, onStoreLost: failInOneLine });
  onSignal = (signal) => {
    clearInterval(npmWatch); // its signal would be the second one, which ends the service at once
    onSignal = () => process.exit(1);
    void stop(service, signal, log);
  };
  log.info({ url: service.url }, 'conversation-service is running');
  if (process.stdout.isTTY)
    process.stdout.write(
      `\n  Conversation Service is running at ${service.publicUrl}\n  API documentation: ${service.publicUrl}/api/docs\n\n`,
    );
  if (service.setupUrl !== null)
    process.stdout.write(
      `\n  Set up the service (this link works once):\n  ${service.setupUrl}\n${dataNote(config)}\n`,
    );
}

/** Names the data folder in full, because it depends on where the service was started. */
const dataNote = ({ database, dataDir }: Config): string =>
  database === null ? `\n  Everything is kept in ${resolve(dataDir)}\n` : '';

/**
 * `npm start` and `npx` pass a SIGTERM on to their shell alone. When that is gone, nobody is left to
 * stop the service.
 */
function endWithNpm(): NodeJS.Timeout | undefined {
  if (!['start', 'npx'].includes(process.env.npm_lifecycle_event ?? '')) return undefined;
  const shell = process.ppid;
  return setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

async function stop(service: Service, signal: string, log: Logger): Promise<void> {
  log.info({ signal }, 'stopping');
  try {
    await service.stop();
    log.info('stopped');
    process.exit(0);
  } catch (error) {
    log.error(
      { err: error },
      'the service did not stop cleanly; nothing that was acknowledged is lost',
    );
    process.exit(1);
  }
}
