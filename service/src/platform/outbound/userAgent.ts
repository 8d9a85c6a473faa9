import { VERSION } from '../version.ts';

/** How the service names itself to receivers and tools. */
export const USER_AGENT = `conversation-service/${VERSION}`;
