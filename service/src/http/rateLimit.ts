import type { Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import type { Caller } from './authentication.ts';

/**
 * At most so many requests a minute for each caller; 0 lets everything through.
 * @param keyOf what requests are counted by
 * @throws rate_limited (429) with Retry-After
 */
export function limitRate(perMinute: number, keyOf: (request: Request, response: Response) => string): RequestHandler {
  if (perMinute === 0) return (_request, _response, next) => next();
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (request, response, next) => {
    try {
      await limiter.consume(keyOf(request, response));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const retryAfterSeconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      throw new AppError('rate_limited', `More than ${perMinute} requests in a minute. ${ERROR_CATALOGUE.rate_limited.fix}`, { retryAfterSeconds });
    }
    next();
  };
}

export const byCaller = (_request: unknown, response: Response): string => (response.locals.caller as Caller).rateKey;

/** Of IPv6 the first 64 bits: a single visitor has all addresses behind them. Some proxies name the port too. */
export function byAddress({ ip = '' }: Pick<Request, 'ip'>): string {
  const given = ip.replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');
  if (!ipaddr.isValid(given)) return given;
  const address = ipaddr.process(given);
  return address.kind() === 'ipv6' ? address.toByteArray().slice(0, 8).join('.') : address.toString();
}
