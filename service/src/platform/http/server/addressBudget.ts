import type { RequestHandler } from 'express';
import { memoryLimiters } from '../../limits/memoryLimiter.ts';
import {
  byAddress,
  limitRate,
  rateLimit,
  type Counting,
  type Rate,
  type RateLimit,
} from './rateLimit.ts';

const DAY = 86_400;

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
    { bound: 'address_sessions', most: 60, seconds: 120, what: CHATS },
    { bound: 'address_sessions', most: 2000, seconds: DAY, what: CHATS },
  ],
  messages: [
    { bound: 'address_messages', most: 300, what: MESSAGES },
    { bound: 'address_messages', most: 20_000, seconds: DAY, what: MESSAGES },
  ],
  /** Bytes of chat requests: about 400 of the longest messages. */
  bytes: {
    bound: 'address_bytes',
    most: 2_000_000,
    what: 'bytes of chat messages from one address',
  },
  /** Bytes of the messages that chats read: ten times what they may write. */
  readBytes: {
    bound: 'address_read_bytes',
    most: 20_000_000,
    what: 'bytes of chat messages read from one address',
  },
  /** Pages, their assets and a chat's reads: 400 chat pages that poll. */
  requests: { bound: 'address_requests', most: 6000, what: 'requests from one address' },
  /** An automation with a revoked key tries a few times a second at most. */
  wrongKeys: { bound: 'address_wrong_keys', most: 300, what: 'wrong API keys from one address' },
  payPages: { bound: 'address_requests', most: 300, what: 'payment pages for one address' },
} as const satisfies Record<string, Rate | readonly Rate[]>;

/** What one address may have open at the same time. */
const MAX_STREAMS_PER_ADDRESS = 100;
const MAX_CONNECTIONS_PER_ADDRESS = 200;

const scale = (most: number, factor: number): number =>
  factor === 0 ? 0 : Math.max(1, Math.round(most * factor));

/** Infinity when there is no limit. */
export const maxConnectionsOfAnAddress = (factor: number): number =>
  scale(MAX_CONNECTIONS_PER_ADDRESS, factor) || Infinity;

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
  const scaled = (rate: Rate): Rate => ({ ...rate, most: scale(rate.most, factor) });
  const limit = (where: Counting, ...rates: readonly Rate[]) =>
    limitRate(where, rates.map(scaled), byAddress);
  // Limits that protect this process alone are counted in its memory: asking a database would cost
  // more than they save.
  const here = { limiters: memoryLimiters, bounds: counting.bounds };
  return {
    sessions: limit(counting, ...ADDRESS_RATES.sessions),
    messages: limit(counting, ...ADDRESS_RATES.messages),
    requests: limit(here, ADDRESS_RATES.requests),
    payPages: limit(here, ADDRESS_RATES.payPages),
    wrongKeys: rateLimit(here, scaled(ADDRESS_RATES.wrongKeys)),
    bytes: rateLimit(here, scaled(ADDRESS_RATES.bytes)),
    readBytes: rateLimit(here, scaled(ADDRESS_RATES.readBytes)),
    maxStreams: scale(MAX_STREAMS_PER_ADDRESS, factor) || Infinity,
  };
}
