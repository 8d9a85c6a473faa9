import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Document } from '../store/store.ts';
import type { ChannelType } from '../channels/channel.ts';

/** A customer on one channel. */
export interface Contact extends Document {
  readonly workspaceId: string;
  readonly channel: ChannelType;
  /** The workspace's account that they wrote to, such as WhatsApp's phone number id. Null in web chat. */
  readonly channelAccount?: string | null;
  /** The channel's own id of the person, if it has one besides the phone number. */
  readonly channelUserId?: string | null;
  /** When they last wrote, by the channel's clock. Null if never, or if the channel has no window. */
  readonly lastWroteAt?: string | null;
  readonly name: string | null;
  /** Digits of the number in international form, without `+` or `00`. */
  readonly phone: string | null;
  /** Lower case. */
  readonly email: string | null;
  /** True when the channel knows the phone or e-mail. What a visitor types is only a claim. */
  readonly verified: boolean;
  readonly createdAt: string;
}

/**
 * A phone number as it is stored and looked up: international digits. `+54 9 11 5555-1234`, `0054…` and
 * `5491155551234` give the same.
 * @returns null when the text cannot be a phone number
 */
export function normalizePhone(text: string): string | null {
  if (!/^[+\d\s().\-/]+$/.test(text)) return null;
  const parsed = parsePhoneNumberFromString(text.replace(/^\s*00/, '+'));
  const digits = parsed ? parsed.number.slice(1) : text.replace(/\D/g, '').replace(/^00/, '');
  return digits.length >= 6 && digits.length <= 15 ? digits : null;
}

/** E-mail addresses are compared without regard to case. */
export const normalizeEmail = (text: string): string => text.trim().toLowerCase();

/** Lets a visitor return to their conversations. Its id is the SHA-256 of the token. */
export interface ChatSession extends Document {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly createdAt: string;
}
