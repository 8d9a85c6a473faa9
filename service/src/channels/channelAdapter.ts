import type {
  Channel,
  ChannelCapabilities,
  ChannelType,
  ConnectionTest,
} from '../domain/channel.ts';
import type { Contact } from '../domain/contact.ts';
import type { InboundItem } from '../domain/inbound.ts';
import type { SendResult } from '../domain/outboundMessage.ts';
import type { SetupField, SetupValues } from '../domain/accountSetup.ts';

/**
 * One channel, in one file: what it can do, what a team fills in to connect it, how its webhook is
 * verified and read, how a text is sent. Registered in registry.ts; everything else follows from
 * this.
 * @see docs/channels.md
 */
export type ChannelAdapter = HostedChannel | ConnectedChannel;

export type { SendResult };

interface Named {
  /** The `channel` of payloads and of the API: lower case and `_`. */
  readonly type: ChannelType;
  /** As people call it. */
  readonly label: string;
  readonly capabilities: ChannelCapabilities;
}

/** A channel that the service hosts itself: what is stored is there. */
export interface HostedChannel extends Named {
  readonly isHosted: true;
}

/** A channel of somebody else's, with accounts that a workspace connects. */
export interface ConnectedChannel extends Named {
  readonly isHosted: false;
  /** What a team fills in, in the order of the form. */
  readonly fields: readonly SetupField[];
  /**
   * What a team does in the channel's own settings once the account is connected here, a sentence
   * or two each.
   */
  readonly setupSteps?: readonly string[];
  /** The channel's own id of the account, among what was filled in. */
  accountOf(values: SetupValues): string;
  /**
   * Whether a request to the channel's webhook address is authentic. Pure: reads nothing but what
   * it is given.
   */
  verify(request: WebhookRequest, account: OpenAccount): Verification;
  /**
   * Reads an authentic body: every message and receipt in it, in its order. What cannot be read is
   * left out, never thrown.
   * @param account whose address it was delivered to; a body may name another one of the workspace
   */
  parse(body: unknown, account: OpenAccount): readonly InboundItem[];
  /**
   * Sends one text of at most `capabilities.textMax` characters. Never rejects but by the signal.
   */
  send(text: OutboundText, account: OpenAccount, context: ChannelContext): Promise<SendResult>;
  /**
   * Asks the channel whether it knows the account and takes its credentials; sends nothing to
   * anybody.
   */
  test(account: OpenAccount, context: ChannelContext): Promise<Omit<ConnectionTest, 'at'>>;
}

/** An account with its secrets in the clear, for the time of a call. */
export interface OpenAccount {
  readonly channel: Channel;
  readonly values: SetupValues;
}

export interface WebhookRequest {
  readonly method: 'GET' | 'POST';
  readonly query: Readonly<Record<string, unknown>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The very bytes. Empty for GET. */
  readonly rawBody: Buffer;
}

/** `answer`: what the channel wants to hear back about its address, as plain text. */
export type Verification =
  | { readonly type: 'authentic' }
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'refused'; readonly why: string };

export interface OutboundText {
  /** Goes with the text where the channel lets it, and comes back with its receipts. */
  readonly outboundMessageId: string;
  readonly text: string;
  readonly to: Pick<Contact, 'phone' | 'channelUserId'>;
}

export interface ChannelContext {
  readonly config: ChannelsConfig;
  readonly signal: AbortSignal;
}

/** What the environment says of other people's services. */
export interface ChannelsConfig {
  /** Meta's Graph API with its version: `https://graph.facebook.com/v24.0`. */
  readonly graphApiUrl: string;
  readonly timeoutMs: number;
}
