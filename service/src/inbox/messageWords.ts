import type { IconName } from '../platform/html/icons.ts';
import { adapterOf } from '../channels/index.ts';
import type { ChannelType, Message } from '../conversations/index.ts';

/** Something other than text that a customer sent. Its description is stored, the file is not. */
export interface Attachment {
  readonly icon: IconName;
  /** `Picture`, or the file's name: `report.pdf (PDF)` */
  readonly words: string;
  /** A place or a contact; null when there is none. */
  readonly details: string | null;
  /** What the customer wrote with it; empty when nothing. */
  readonly caption: string;
  /** Where the team finds it: `Open it in WhatsApp.` Null when the details say everything. */
  readonly where: string | null;
}

interface Kind {
  readonly icon: IconName;
  /** What to do with it in the channel; null when the details say everything. */
  readonly verb: 'See' | 'Listen to' | 'Open' | null;
}

const KINDS: Readonly<Record<string, Kind>> = {
  Picture: { icon: 'image', verb: 'See' },
  Video: { icon: 'video', verb: 'See' },
  'Voice message': { icon: 'mic', verb: 'Listen to' },
  Audio: { icon: 'mic', verb: 'Listen to' },
  Document: { icon: 'file-text', verb: 'Open' },
  Sticker: { icon: 'image', verb: 'See' },
  Location: { icon: 'map-pin', verb: 'See' },
  Contact: { icon: 'user-round', verb: null },
};

/** What may stand in brackets before the kind: how the message came. */
const WAYS: Readonly<Record<string, string>> = {
  'In a group': ', in a group',
  'Changed an earlier message': ', changed an earlier message',
};

/** Details may hold pairs of brackets: `[Document: report [final].pdf]`. */
const IN_BRACKETS =
  /^((?:\[[A-Z][a-z ]+\] )*)\[([A-Z][a-z ]+)(?:: ((?:[^[\]]|\[[^[\]]*\])*))?\](?: ([^]*))?$/;

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
  const [, ways = '', kind = '', details = null, caption = ''] = IN_BRACKETS.exec(text) ?? [];
  if (!Object.hasOwn(KINDS, kind)) return null;
  const { icon, verb } = KINDS[kind]!;
  const isNamed = kind === 'Document' && details !== null;
  return {
    icon,
    words: `${isNamed ? withType(details) : kind}${waysInWords(ways)}`,
    details: isNamed ? null : details,
    caption,
    where: verb === null ? null : `${verb} it in ${label}.`,
  };
}

/** @param ways `[In a group] ` */
const waysInWords = (ways: string): string =>
  [...ways.matchAll(/\[([^\]]+)\]/g)].map(([, way]) => WAYS[way!] ?? '').join('');

const FILE_TYPES: Readonly<Record<string, string>> = {
  pdf: 'PDF',
  doc: 'Word',
  docx: 'Word',
  xls: 'Excel',
  xlsx: 'Excel',
  ppt: 'PowerPoint',
  pptx: 'PowerPoint',
  csv: 'CSV',
  txt: 'text',
  zip: 'ZIP',
};

/** `report.pdf (PDF)`; the name alone when its extension is unknown. */
function withType(name: string): string {
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(FILE_TYPES, extension) ? `${name} (${FILE_TYPES[extension]})` : name;
}

/** A message on one line: `Picture: Do you have this one?` */
export function messageInWords(message: Message, channel: ChannelType): string {
  const attachment = attachmentOf(message, channel);
  if (attachment === null) return message.text;
  const { words, details, caption } = attachment;
  const more = caption === '' ? details : caption;
  return more === null ? words : `${words}: ${more}`;
}

/** The beginning of a text, on one line; with `…` where more follows. */
export function beginningOf(text: string, maxCharacters: number): string {
  // A character is at most two UTF-16 units long, and the last one may be cut in half.
  const read = text.slice(0, 2 * maxCharacters).replace(/[\uD800-\uDBFF]$/, '');
  const characters = [...read.replace(/\s+/g, ' ')];
  const isWhole = read === text && characters.length <= maxCharacters;
  return `${characters.slice(0, maxCharacters).join('')}${isWhole ? '' : '…'}`;
}
