import { readFileSync } from 'node:fs';

/** The version of this package, as its package.json says; the same beside src and beside dist. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;

/** How the service names itself to receivers and tools. */
export const USER_AGENT = `conversation-service/${VERSION}`;
