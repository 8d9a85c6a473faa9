import type { ChannelCapabilities } from './channel.ts';
import { timestamp } from './clock.ts';
import type { Contact } from './contact.ts';

/** Whether a customer may be written to now. */
export interface MessagingWindow {
  readonly isOpen: boolean;
  /**
   * When it closes, or has closed. Null: the channel has no window, or the customer has never
   * written.
   */
  readonly closesAt: string | null;
}

/**
 * The time after a customer's last message in which a channel takes messages to them, such as
 * WhatsApp's 24 hours.
 */
export function windowOf(
  { windowMs }: Pick<ChannelCapabilities, 'windowMs'>,
  { lastWroteAt }: Pick<Contact, 'lastWroteAt'>,
  now: Date,
): MessagingWindow {
  if (windowMs === null) return { isOpen: true, closesAt: null };
  if (lastWroteAt === null || lastWroteAt === undefined) return { isOpen: false, closesAt: null };
  const closesAt = Date.parse(lastWroteAt) + windowMs;
  return { isOpen: now.getTime() < closesAt, closesAt: timestamp(new Date(closesAt)) };
}
