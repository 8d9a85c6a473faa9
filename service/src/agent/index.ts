/** What other subjects may use of agent/; nothing else. */

export { isAgentOn } from './operations/settings.ts';
