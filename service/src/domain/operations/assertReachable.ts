import type { Deps } from '../deps.ts';
import type { ConversationView } from './loadConversation.ts';

/**
 * Refuses a message that the conversation's channel would not take.
 * @throws outside_messaging_window, channel_removed (409)
 */
export async function assertReachable(_tx: unknown, _deps: Pick<Deps, 'channels'>, _view: ConversationView, _now: Date): Promise<void> {}
