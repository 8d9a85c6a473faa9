import type { Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import type { BoundName, Bounds } from '../../limits/bounds.ts';
import type { Limiter, Limiters } from '../../limits/limiter.ts';
import { errorAtBound } from './errorAtBound.ts';
import { callerOf } from '../caller.ts';

/**
 * The most requests, or bytes, that are allowed in a span of time. Rates of the same bound and span
 * are counted together, also by several processes.
 */
export interface Rate {
  /** 0: no limit. */
  readonly most: number;
  /** Default: a minute. */
  readonly seconds?: number;
  readonly bound: BoundName;
  /** What is counted, for the error: `chat messages from one address`. */
  readonly what: string;
}

/** Counts requests or bytes, and refuses them beyond the rate. */
export interface RateLimit {
  /**
   * @param points how much to count, for example bytes; 1 by default
   * @throws rate_limited (429) with Retry-After when there are too many
   */
  spend(key: string, points?: number): Promise<void>;
}

export interface Counting {
  readonly limiters: Limiters;
  readonly bounds: Bounds;
}

export function rateLimit(
  { limiters, bounds }: Counting,
  { bound, most, seconds = 60, what }: Rate,
): RateLimit {
  if (most === 0) return { spend: async () => {} };
  const limiter: Limiter = limiters({ name: `${bound} ${seconds}`, most, seconds });
  const words = `More than ${most.toLocaleString('en')} ${what} ${SPANS[seconds] ?? `in ${seconds} seconds`}.`;
  return {
    async spend(key, points) {
      const waitMs = await limiter.count(key, points);
      if (waitMs !== null) throw errorAtBound(bounds, bound, words, { retryAfterMs: waitMs });
    },
  };
}

const SPANS: Readonly<Record<number, string>> = {
  60: 'in a minute',
  120: 'in two minutes',
  86_400: 'in a day',
};

/**
 * Lets through as many requests as every one of the rates allows. The rates are checked one after
 * another: a request that the first rate refuses does not count for the next.
 * @param keyOf what requests are counted by
 * @throws rate_limited (429) with Retry-After
 */
export function limitRate(
  counting: Counting,
  rates: readonly Rate[],
  keyOf: (request: Request, response: Response) => string,
): RequestHandler {
  const limits = rates.map((rate) => rateLimit(counting, rate));
  return async (request, response, next) => {
    const key = keyOf(request, response);
    for (const limit of limits) await limit.spend(key);
    next();
  };
}

/** Counts by API key or chat visitor. */
export const byCaller = (_request: unknown, response: Response): string =>
  callerOf(response)!.rateKey;

export const byWorkspace = (_request: unknown, response: Response): string =>
  callerOf(response)!.workspace.id;

/**
 * Counts by address. For IPv6, only the first 64 bits count, since one visitor has all addresses
 * that begin with them. Removes the port, which some proxies add.
 */
export function byAddress({ ip = '' }: Pick<Request, 'ip'>): string {
  const given = ip.replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');
  if (!ipaddr.isValid(given)) return given;
  const address = ipaddr.process(given);
  return address.kind() === 'ipv6'
    ? address.toByteArray().slice(0, 8).join('.')
    : address.toString();
}
