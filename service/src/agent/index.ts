/** What other subjects may use of agent/; nothing else. */

export { isEnabled } from './agentSettings.ts';
export { findAgentSettings } from './operations/settings.ts';
