import type { RequestHandler } from 'express';
import type { BoundName } from '../../limits/bounds.ts';
import { memoryLimiters } from '../../limits/memoryLimiter.ts';
import {
  byAddress,
  limitRate,
  rateLimit,
  type Counting,
  type Rate,
  type RateLimit,
} from './rateLimit.ts';

const MINUTE = 60;
const DAY = 86_400;

const rate = (
  bound: BoundName,
  most: number,
  seconds: number,
  what: string,
  name: string = bound,
): Rate => ({ name, most, seconds, bound, what });

const CHATS = 'new chats from one address';
const MESSAGES = 'chat messages from one address';

/**
 * What callers without a valid API key may do together from one address, which may be that of an
 * office, a school or a mobile network. Each number is about ten times what a hundred people need.
 * ADDRESS_BUDGET multiplies all of them.
 */
const ADDRESS_RATES = {
  /** New chats: 30 a minute, and 60 at once. */
  sessions: [
    rate('address_sessions', 60, 2 * MINUTE, CHATS),
    rate('address_sessions', 2000, DAY, CHATS, 'address_sessions_day'),
  ],
  messages: [
    rate('address_messages', 300, MINUTE, MESSAGES),
    rate('address_messages', 20_000, DAY, MESSAGES, 'address_messages_day'),
  ],
  /** Bytes of chat requests: about 400 of the longest messages. */
  bytes: rate('address_bytes', 2_000_000, MINUTE, 'bytes of chat messages from one address'),
  /** Bytes of the messages that chats read: ten times what they may write. */
  readBytes: rate(
    'address_read_bytes',
    20_000_000,
    MINUTE,
    'bytes of chat messages read from one address',
  ),
  /** Pages, their assets and a chat's reads: 400 chat pages that poll. */
  requests: rate('address_requests', 6000, MINUTE, 'requests from one address'),
  /** Wrong API keys: an automation with a revoked key tries a few times a second at most. */
  wrongKeys: rate('address_wrong_keys', 300, MINUTE, 'wrong API keys from one address'),
  payPages: rate(
    'address_requests',
    300,
    MINUTE,
    'payment pages for one address',
    'address_pay_pages',
  ),
};

/** Open at the same time from one address. */
const MAX_STREAMS_PER_ADDRESS = 100;
const MAX_CONNECTIONS_PER_ADDRESS = 200;

const times = (most: number, factor: number): number =>
  factor === 0 ? 0 : Math.max(1, Math.round(most * factor));

/** Infinity when there is no limit. */
export const maxConnectionsOfAnAddress = (factor: number): number =>
  times(MAX_CONNECTIONS_PER_ADDRESS, factor) || Infinity;

/** The budget of each address, for callers without a valid API key. */
export interface AddressBudget {
  readonly sessions: RequestHandler;
  readonly messages: RequestHandler;
  readonly requests: RequestHandler;
  readonly payPages: RequestHandler;
  readonly bytes: RateLimit;
  readonly wrongKeys: RateLimit;
  readonly readBytes: RateLimit;
  /** Infinity when there is no limit. */
  readonly maxStreams: number;
}

/** @param factor ADDRESS_BUDGET; 0 turns the limits off */
export function addressBudget(counting: Counting, factor: number): AddressBudget {
  const scaled = (rate: Rate): Rate => ({ ...rate, most: times(rate.most, factor) });
  const limit = ({ limiters, bounds }: Counting, ...rates: readonly Rate[]) =>
    limitRate({ limiters, bounds }, rates.map(scaled), byAddress);
  // These protect this process alone, so they are counted in it: asking a database would cost more
  // than it saves.
  const here = { limiters: memoryLimiters, bounds: counting.bounds };
  return {
    sessions: limit(counting, ...ADDRESS_RATES.sessions),
    messages: limit(counting, ...ADDRESS_RATES.messages),
    requests: limit(here, ADDRESS_RATES.requests),
    payPages: limit(here, ADDRESS_RATES.payPages),
    wrongKeys: rateLimit(here, scaled(ADDRESS_RATES.wrongKeys)),
    bytes: rateLimit(here, scaled(ADDRESS_RATES.bytes)),
    readBytes: rateLimit(here, scaled(ADDRESS_RATES.readBytes)),
    maxStreams: times(MAX_STREAMS_PER_ADDRESS, factor) || Infinity,
  };
}
