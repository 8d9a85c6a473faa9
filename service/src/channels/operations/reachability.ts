import { MAX_CHANNELS, windowOf, type MessagingWindow } from '../channel.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact } from '../../conversations/index.ts';
import { errorWithFix, type AppError } from '../../platform/http/errorCatalogue.ts';
import { adapterOf } from '../registry.ts';
import { findChannelOf } from './channels.ts';

/**
 * Refuses a message that the conversation's channel would not take.
 * @throws outside_messaging_window, channel_removed (409)
 */
export async function assertReachable(tx: Tx, contact: Contact, now: Date): Promise<void> {
  const obstacle = await findObstacle(tx, contact, now);
  if (obstacle) throw obstacle;
}

/** The error that a message to the customer would meet now; null when it can be sent. */
export async function findObstacle(tx: Tx, contact: Contact, now: Date): Promise<AppError | null> {
  const { isHosted, capabilities } = adapterOf(contact.channel);
  if (!isHosted && !(await findChannelOf(tx, contact))) {
    return errorWithFix(
      'channel_removed',
      'The channel that this customer wrote to is not connected any more.',
    );
  }
  const { isOpen, closesAt } = windowOf(capabilities, contact, now);
  if (isOpen) return null;
  const hours = Math.round(capabilities.windowMs! / 3_600_000);
  const why =
    closesAt === null
      ? 'they have not written yet'
      : `they last wrote at ${contact.lastWroteAt}, so it was open until ${closesAt}`;
  return errorWithFix(
    'outside_messaging_window',
    `The channel takes messages to a customer for ${hours} hours after their last one: ${why}.`,
  );
}

/** Whether and where a message reaches a customer, as the team sees it. */
export interface Reach {
  /** False when the account that they wrote to is not connected any more. */
  readonly isConnected: boolean;
  /** The name of the account that they wrote to; null unless the channel has several accounts. */
  readonly accountName: string | null;
  readonly window: MessagingWindow;
}

export async function readReach(tx: Tx, contact: Contact, now: Date): Promise<Reach> {
  const { isHosted, capabilities } = adapterOf(contact.channel);
  const window = windowOf(capabilities, contact, now);
  if (isHosted) return { isConnected: true, accountName: null, window };
  const channel = await findChannelOf(tx, contact);
  const all = await tx.channels.find({
    where: { workspaceId: contact.workspaceId },
    limit: MAX_CHANNELS,
  });
  const isOneOfSeveral =
    channel !== null && all.filter(({ type }) => type === contact.channel).length > 1;
  return {
    isConnected: channel !== null,
    accountName: isOneOfSeveral ? channel.name : null,
    window,
  };
}
