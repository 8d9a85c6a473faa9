import type { Messaging } from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import { queueOutbound, resendOutbound } from './outbound/queueOutbound.ts';
import { queueTyping } from './outbound/typing.ts';
import { assertReachable } from './operations/reachability.ts';

/** What conversations ask of their channels. */
export const messagingOf = (deps: Pick<Deps, 'channels'>): Messaging => ({
  assertReachable: (tx, contact, now) => assertReachable(tx, deps, contact, now),
  isSentByAdapter: ({ channel }) => deps.channels.capabilitiesOf(channel).isSentByAdapter,
  queueTyping: (tx, contact, now) => queueTyping(tx, deps, contact, now),
  resend: (tx, view, messageId, now) => resendOutbound(tx, deps, view, messageId, now),
  queue: (tx, sent, now) => queueOutbound(tx, deps, sent, now),
});
