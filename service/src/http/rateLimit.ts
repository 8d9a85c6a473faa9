import type { Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import type { Limiters } from '../limits/limiter.ts';
import type { Caller } from './authentication.ts';

/**
 * At most so many requests a minute for each caller, over all processes; 0 lets everything through.
 * @param limit.name requests under the same name are counted together
 * @param keyOf what requests are counted by
 * @throws rate_limited (429) with Retry-After
 */
export function limitRate(limiters: Limiters, { name, perMinute }: { name: string; perMinute: number }, keyOf: (request: Request, response: Response) => string): RequestHandler {
  if (perMinute === 0) return (_request, _response, next) => next();
  const limiter = limiters({ name, most: perMinute, seconds: 60 });
  return async (request, response, next) => {
    const waitMs = await limiter.count(keyOf(request, response));
    if (waitMs !== null) {
      const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
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
