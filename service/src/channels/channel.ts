import type { ConnectedAccount } from '../platform/accounts/accountSetup.ts';
import { timestamp } from '../platform/clock.ts';
import type { ChannelType, Contact } from '../conversations/index.ts';

/** The URL names the account, whose secret verifies the requests to it. */
export const channelWebhookUrl = (
  publicUrl: string,
  { type, id }: Pick<Channel, 'type' | 'id'>,
): string => `${publicUrl}/api/channels/${type}/webhook/${id}`;

/** What a channel can do, as its adapter says. @see docs/channels.md */
export interface ChannelCapabilities {
  /** The longest text that the channel takes at once, in characters; longer messages are split. */
  readonly textMax: number;
  /** How long after the customer's last message they may be written to, in ms; null: always. */
  readonly windowMs: number | null;
  /** How often `showTyping` of the adapter is repeated, in ms. Absent: the channel cannot show it. */
  readonly typingEveryMs?: number;
  /**
   * Whether the channel can show these choices with a text, as something to press. Absent: it never
   * can. Choices that it cannot show follow the text as lines: see `queueOutbound`.
   */
  readonly takesChoices?: (text: string, choices: readonly string[]) => boolean;
}

/** An account of a workspace on a channel: a WhatsApp number. The hosted chat needs none. */
export interface Channel extends ConnectedAccount {
  readonly type: ChannelType;
  /** The team's name for it. */
  readonly name: string;
  /**
   * The channel's own id of the account (WhatsApp: the phone number id); unique in the workspace
   * and type.
   */
  readonly account: string;
  /** When the channel last sent us something authentic. */
  readonly lastInboundAt: string | null;
}

export const MAX_CHANNELS = 50;

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
