import type { SetupField, SetupValues, TestResult } from '../platform/accounts/accountSetup.ts';
import type { Channel, ChannelCapabilities } from './channel.ts';
import type { Contact, ChannelType } from '../conversations/index.ts';
import type { InboundItem } from './inbound.ts';
import type { SendResult } from './outbound/outboundMessage.ts';

/**
 * One channel: its capabilities, the form that connects an account, its webhook, and how a text is
 * sent. The API, the screens and the sender use the adapters in registry.ts and name no channel.
 * @see docs/channels.md
 */
export type ChannelAdapter = HostedChannel | ConnectedChannel;

export type { SendResult };

interface ChannelKind {
  /** The `channel` of payloads and of the API, in lower case with `_`. */
  readonly type: ChannelType;
  /** The name that people know. */
  readonly label: string;
  readonly capabilities: ChannelCapabilities;
}

/** A channel that the service hosts itself. A message has arrived once it is stored. */
export interface HostedChannel extends ChannelKind {
  readonly isHosted: true;
}

/** A third party's channel, with accounts that a workspace connects. */
export interface ConnectedChannel extends ChannelKind {
  readonly isHosted: false;
  /** The fields of its form, in order. */
  readonly fields: readonly SetupField[];
  /** What a team does in the channel's own settings after connecting it here. */
  readonly setupSteps?: readonly string[];
  /** The channel's id of the account, from the form's values. */
  accountOf(values: SetupValues): string;
  /** Whether a request to the webhook address is authentic. Pure. */
  verify(request: WebhookRequest, account: OpenAccount): Verification;
  /**
   * Reads every message and receipt of an authentic body, in order. An item that cannot be read is
   * left out; it never throws.
   * @param account whose webhook address was called; items may name other accounts of the workspace
   */
  parse(body: unknown, account: OpenAccount): readonly InboundItem[];
  /** Sends one text of at most `capabilities.textMax` characters. Rejects only if aborted. */
  send(text: OutboundText, account: OpenAccount, context: ChannelContext): Promise<SendResult>;
  /**
   * Shows the customer that somebody is typing. A failure is of no consequence.
   * @param to the customer, and the channel's id of the last message that they wrote
   */
  showTyping?(
    to: OutboundText['to'] & { readonly lastMessageId: string },
    account: OpenAccount,
    context: ChannelContext,
  ): Promise<void>;
  /** Asks the channel whether the account and its credentials are valid. Sends no message. */
  test(account: OpenAccount, context: ChannelContext): Promise<TestResult>;
}

/** An account with its secrets in the clear, for one call. */
export interface OpenAccount {
  readonly channel: Channel;
  readonly values: SetupValues;
}

export interface WebhookRequest {
  readonly method: 'GET' | 'POST';
  readonly query: Readonly<Record<string, unknown>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw bytes. Empty for GET. */
  readonly rawBody: Buffer;
}

/** `answer`: the plain text that the channel expects when it checks the address. */
export type Verification =
  | { readonly type: 'authentic' }
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'refused'; readonly why: string };

export interface OutboundText {
  /** Sent along if the channel supports it; receipts return it. */
  readonly outboundMessageId: string;
  readonly text: string;
  /** Answers to press. Only where `capabilities.takesChoices` allows them. */
  readonly choices?: readonly string[];
  readonly to: Pick<Contact, 'phone' | 'channelUserId'>;
}

export interface ChannelContext {
  readonly config: ChannelsConfig;
  readonly signal: AbortSignal;
}

/** The environment's settings of third-party services. */
export interface ChannelsConfig {
  /** Meta's Graph API with its version: `https://graph.facebook.com/v24.0`. */
  readonly graphApiUrl: string;
  readonly timeoutMs: number;
}
