import { readConfig } from '../config.ts';
import { createLogger, startService } from '../service.ts';
import { failInOneLine } from './failInOneLine.ts';

/** Runs the service until SIGTERM or SIGINT; a second signal ends it at once. */
export async function runService(): Promise<void> {
  try {
    const config = readConfig(process.env);
    const log = createLogger(config.logLevel);
    const service = await startService(config, { log });
    log.info({ url: service.url }, 'conversation-service is running');
    if (process.stdout.isTTY) process.stdout.write(`\n  Conversation Service is running at ${service.publicUrl}\n  API documentation: ${service.publicUrl}/api/docs\n\n`);
    if (service.setupUrl !== null) process.stdout.write(`\n  Set up the service (this link works once):\n  ${service.setupUrl}\n\n`);

    const stop = async (signal: string) => {
      log.info({ signal }, 'stopping');
      process.once('SIGTERM', () => process.exit(1));
      process.once('SIGINT', () => process.exit(1));
      await service.stop();
      log.info('stopped');
      process.exit(0);
    };
    process.once('SIGTERM', () => void stop('SIGTERM'));
    process.once('SIGINT', () => void stop('SIGINT'));
  } catch (error) {
    failInOneLine(error);
  }
}
