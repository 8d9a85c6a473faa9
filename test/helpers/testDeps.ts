import { randomBytes } from 'node:crypto';
import { channelDirectory } from '../../service/src/channels/registry.ts';
import { reactionsOf } from '../../service/src/app/reactions.ts';
import { messagingOf } from '../../service/src/channels/messaging.ts';
import { unassignAll } from '../../service/src/conversations/index.ts';
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
  channels: channelDirectory,
  publicUrl: () => '',
  reactions: reactionsOf({ messaging: messagingFor(own), ...own }),
  messaging: messagingFor(own),
  onMemberRemoved: unassignAll,
  ...own,
});

const messagingFor = ({ channels = channelDirectory }: Partial<Deps>) => messagingOf({ channels });
