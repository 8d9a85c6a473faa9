import type { Messaging } from '../conversations/index.ts';
import { queueOutbound, resendOutbound } from './outbound/queueOutbound.ts';
import { queueTyping } from './outbound/typing.ts';
import { assertReachable } from './operations/reachability.ts';
import { adapterOf } from './registry.ts';

/** What conversations ask of their channels. */
export const messaging: Messaging = {
  assertReachable,
  isSentByAdapter: ({ channel }) => !adapterOf(channel).isHosted,
  queueTyping,
  resend: resendOutbound,
  queue: queueOutbound,
};
