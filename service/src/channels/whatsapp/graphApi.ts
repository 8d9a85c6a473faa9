import type { ConnectionTest } from '../../domain/channel.ts';
import type { ChannelContext, OpenAccount, OutboundText, SendResult } from '../channelAdapter.ts';

/** Sends one text: POST /{version}/{phone_number_id}/messages. */
export const sendText = async (_text: OutboundText, _account: OpenAccount, _context: ChannelContext): Promise<SendResult> => ({ type: 'failed', error: 'not built yet', isRefused: true, retryAfterMs: null });

/** Asks the Graph API for the phone number: whether token and number fit. */
export const testConnection = async (_account: OpenAccount, _context: ChannelContext): Promise<Omit<ConnectionTest, 'at'>> => ({ ok: false, message: 'not built yet' });
