import { readFileSync } from 'node:fs';

/** From package.json, whose relative path is the same from src/platform and dist/platform. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;

/** How the service names itself to receivers and tools. */
export const USER_AGENT = `conversation-service/${VERSION}`;
