import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import { windowOf } from '../messagingWindow.ts';
import { findChannelOf } from './findChannelOf.ts';
import type { ConversationView } from './loadConversation.ts';

/**
 * Refuses a message that the conversation's channel would not take.
 * @throws outside_messaging_window, channel_removed (409)
 */
export async function assertReachable(
  tx: Tx,
  deps: Pick<Deps, 'channels'>,
  view: Pick<ConversationView, 'contact'>,
  now: Date,
): Promise<void> {
  const obstacle = await findObstacle(tx, deps, view, now);
  if (obstacle) throw obstacle;
}

/** Why the customer cannot be written to now; null when nothing is in the way. */
export async function findObstacle(
  tx: Tx,
  deps: Pick<Deps, 'channels'>,
  { contact }: Pick<ConversationView, 'contact'>,
  now: Date,
): Promise<AppError | null> {
  const capabilities = deps.channels.capabilitiesOf(contact.channel);
  if (capabilities.isSent && !(await findChannelOf(tx, contact))) {
    return new AppError(
      'channel_removed',
      `The channel that this customer wrote to is not connected any more. ${ERROR_CATALOGUE.channel_removed.fix}`,
    );
  }
  const { isOpen, closesAt } = windowOf(capabilities, contact, now);
  if (isOpen) return null;
  const hours = Math.round(capabilities.windowMs! / 3_600_000);
  const why =
    closesAt === null
      ? 'they have not written yet'
      : `they last wrote at ${contact.lastWroteAt}, so it was open until ${closesAt}`;
  return new AppError(
    'outside_messaging_window',
    `The channel takes messages to a customer for ${hours} hours after their last one: ${why}. ${ERROR_CATALOGUE.outside_messaging_window.fix}`,
  );
}
