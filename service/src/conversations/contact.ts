import type { Document } from '../store/store.ts';

/** Where conversations come from. What each channel can do is in its adapter, in channels/. */
export const CHANNEL_TYPES = ['web_chat', 'whatsapp_cloud'] as const;

/** `web_chat`, `whatsapp_cloud`: the `channel` of a payload. */
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** The one that the service hosts itself. */
export const WEB_CHAT: ChannelType = 'web_chat';

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
