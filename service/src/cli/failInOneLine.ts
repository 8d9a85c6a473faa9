/** Ends the process with one line that says what was wrong; LOG_LEVEL=debug adds where. */
export function failInOneLine(error: unknown): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`conversation-service: ${message.split('\n')[0]}\n`);
  if (process.env.LOG_LEVEL === 'debug' && stack) process.stderr.write(`${stack}\n`);
  process.exit(1);
}
