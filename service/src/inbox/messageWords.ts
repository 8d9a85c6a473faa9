import type { IconName } from '../platform/html/icons.ts';
import { adapterOf } from '../channels/index.ts';
import type { ChannelType, Message } from '../conversations/index.ts';

/** Something that a customer sent beside text. It is not stored here. */
export interface Attachment {
  readonly icon: IconName;
  /** `Sent a picture` */
  readonly words: string;
  /** A file's name, a place, or a contact; null when there is none. */
  readonly details: string | null;
  /** What the customer wrote with it; empty when nothing. */
  readonly caption: string;
  /** Where the team can see it. */
  readonly channelLabel: string;
}

const KINDS: Readonly<Record<string, Pick<Attachment, 'icon' | 'words'>>> = {
  Picture: { icon: 'image', words: 'Sent a picture' },
  Video: { icon: 'video', words: 'Sent a video' },
  'Voice message': { icon: 'mic', words: 'Sent a voice message' },
  Audio: { icon: 'mic', words: 'Sent a sound' },
  Document: { icon: 'file-text', words: 'Sent a document' },
  Sticker: { icon: 'image', words: 'Sent a sticker' },
  Location: { icon: 'map-pin', words: 'Sent a location' },
  Contact: { icon: 'user-round', words: 'Sent a contact' },
};

const IN_BRACKETS = /^\[([A-Z][a-z ]+)(?:: ([^\]]*))?\](?: ([^]*))?$/;

/**
 * What a message of a connected channel describes in brackets: `[Picture] Do you have this one?`
 * Null for a message that is text alone.
 */
export function attachmentOf(
  { direction, text }: Pick<Message, 'direction' | 'text'>,
  channel: ChannelType,
): Attachment | null {
  const { isHosted, label } = adapterOf(channel);
  if (direction === 'outbound' || isHosted) return null;
  const [, kind = '', details = null, caption = ''] = IN_BRACKETS.exec(text) ?? [];
  return Object.hasOwn(KINDS, kind)
    ? { ...KINDS[kind]!, details, caption, channelLabel: label }
    : null;
}

/** A message on one line: `Sent a picture: Do you have this one?` */
export function messageInWords(message: Message, channel: ChannelType): string {
  const attachment = attachmentOf(message, channel);
  if (attachment === null) return message.text;
  const { words, details, caption } = attachment;
  const more = caption === '' ? details : caption;
  return more === null ? words : `${words}: ${more}`;
}
