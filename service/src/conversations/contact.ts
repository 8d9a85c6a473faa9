import type { Actor } from '../platform/actor.ts';
import type { Document } from '../store/store.ts';

/** Where conversations come from. What each channel can do is in its adapter, in channels/. */
export const CHANNEL_TYPES = ['web_chat', 'whatsapp_cloud'] as const;

/** The `channel` of a payload. */
export type ChannelType = (typeof CHANNEL_TYPES)[number];

/** The channel that the service hosts itself. */
export const WEB_CHAT: ChannelType = 'web_chat';

/** A customer on one channel. */
export interface Contact extends Document {
  readonly workspaceId: string;
  readonly channel: ChannelType;
  /** The workspace's account that they wrote to: WhatsApp's phone number id. Null in web chat. */
  readonly channelAccount?: string | null;
  /** The channel's own id of the person, if it has one besides the phone number. */
  readonly channelUserId?: string | null;
  /** When they last wrote, by the channel's clock. Null if never, or if it has no window. */
  readonly lastWroteAt?: string | null;
  /** When their number or user id last changed, by the channel's clock. Absent if never. */
  readonly renumberedAt?: string;
  readonly name: string | null;
  /**
   * A member has set the name; a name from the channel no longer replaces it. False: a member has
   * removed the name.
   */
  readonly isNamedByTeam?: boolean;
  /** Digits of the number in international form, without `+` or `00`. */
  readonly phone: string | null;
  /** Lower case. */
  readonly email: string | null;
  /** True when the channel knows the phone or e-mail. What a visitor types is only a claim. */
  readonly verified: boolean;
  /** Nothing personal of the contact is kept; see Forgetting. */
  readonly forgotten?: Forgetting;
  readonly createdAt: string;
}

export const MAX_CONTACT_NAME_CHARACTERS = 200;

/** What is removed with a contact, in the order in which screens list it. */
export const REMOVED_KINDS = [
  'conversations',
  'messages',
  'notes',
  'toolCalls',
  'questions',
  'agentTurns',
  'outboundTexts',
  'chatSessions',
  'reveals',
  'events',
  'deliveries',
  'clearedPayments',
] as const;
export type RemovedKind = (typeof REMOVED_KINDS)[number];
export type Removed = Readonly<Partial<Record<RemovedKind, number>>>;

/** The queue of what is left to remove of forgotten contacts. */
export const FORGETTING_QUEUE = 'forgetting';

/**
 * The removal of what is personal. The contact stays with this record and without details, so that
 * what remains, such as payments, still has a contact.
 * @see docs/decisions/0050-what-forgetting-a-contact-removes.md
 */
export interface Forgetting {
  readonly at: string;
  readonly by: Actor;
  /** What has been removed so far. */
  readonly removed: Removed;
  /** What the removal continues with; null when it has ended. */
  readonly next: ForgettingStep | null;
  readonly finishedAt: string | null;
}

export interface ForgettingStep {
  readonly task: 'conversations' | 'rest' | 'deliveries' | 'events';
  /** The last document that was looked at; null at the beginning of the task. */
  readonly after: string | null;
  /** The contact's conversations, also those already removed: their events have to go too. */
  readonly conversationIds: readonly string[];
}

export const isForgotten = ({ forgotten }: Contact): boolean => forgotten !== undefined;

/** The contact without anything personal. If the person writes again, they are a new contact. */
export const forget = (
  { id, workspaceId, channel, createdAt }: Contact,
  forgotten: Forgetting,
): Contact => ({
  id,
  workspaceId,
  channel,
  channelAccount: null,
  channelUserId: null,
  lastWroteAt: null,
  name: null,
  phone: null,
  email: null,
  verified: false,
  forgotten,
  createdAt,
});
