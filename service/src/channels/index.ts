/** What other subjects may use of channels/; nothing else. */

export { startChatSession } from './web_chat/chatOperations.ts';
export { adapterOf } from './registry.ts';
export { type Reach, readReach } from './operations/reachability.ts';
