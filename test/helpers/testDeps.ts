import { randomBytes } from 'node:crypto';
import { reactionsOf } from '../../service/src/app/reactions.ts';
import { messaging } from '../../service/src/channels/messaging.ts';
import { releaseConversationsOf } from '../../service/src/conversations/index.ts';
import { systemClock } from '../../service/src/platform/clock.ts';
import type { Deps } from '../../service/src/platform/deps.ts';
import { unwatchedBounds } from '../../service/src/platform/limits/bounds.ts';
import { createSecretBox } from '../../service/src/platform/security/secretBox.ts';

/** What operations get in a test without a running service: no bounds, and every URL is allowed. */
export const testDeps = (own: Pick<Deps, 'store' | 'agent'> & Partial<Deps>): Deps => ({
  clock: systemClock,
  secrets: createSecretBox(randomBytes(32)),
  checkTargetUrl: async () => {},
  bounds: unwatchedBounds,
  assertRoom() {},
  passwords: {} as never,
  publicUrl: () => '',
  reactions: reactionsOf({ messaging, ...own }),
  messaging,
  onMemberRemoved: releaseConversationsOf,
  ...own,
});
