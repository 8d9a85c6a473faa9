import type { Request } from 'express';
import { AppError } from '../domain/errorCatalogue.ts';
import { byAddress } from '../http/rateLimit.ts';
import type { BoundName, Bounds } from '../limits/bounds.ts';
import type { Limiter, Limiters } from '../limits/limiter.ts';
import { Pauses } from './pauses.ts';

/** What was tried is remembered so long. */
const MINUTES = 15;

/** A person's own mistakes, with room for a second person with the same e-mail and address. */
export const MAX_TRIES_BY_EMAIL_AND_ADDRESS = 10;
/** An office signs in behind one address; what it gets right does not count. */
export const MAX_TRIES_BY_ADDRESS = 100;
/** Of the present password, when a member changes it. */
export const MAX_TRIES_OF_PRESENT_PASSWORD = 5;

/** So many tries for one e-mail, from anywhere, are answered at once: more than a person needs. */
export const UNSLOWED_TRIES = 10;
const SLOWER_BY_MS = 100;
/** One who guesses notices; a person who is attacked still waits for it. */
const MAX_SLOWED_MS = 3_000;
/** Held back at once in all: each keeps a connection. */
const MAX_SLOWED = 100;

/** Counted before the password is looked at, so that many tries at once are no way around it. */
export interface Attempt {
  /** From this address in the last minutes, this one among them; what was right is not counted. */
  readonly tries: number;
  /** It was right: it does not count, and a person is let off their earlier mistakes. */
  forgive(): Promise<void>;
}

/** How often somebody may try to get in. All throw rate_limited (429) after too many tries. */
export interface AttemptLimits {
  /** With a link: to join, or to set up. Counts by address. */
  useLink(request: Request): Promise<Attempt>;
  /**
   * With e-mail and password. Counts by address first, so that what is refused by address leaves
   * no further key; then by e-mail and address. By e-mail alone nobody is refused, or anybody could
   * lock a member out: from the eleventh on, tries are held back, up to three seconds.
   * @param email normalised
   */
  signIn(request: Request, email: string): Promise<Attempt>;
  /** With the present password, of a member who is signed in. */
  changePassword(memberId: string): Promise<Attempt>;
}

/** Counts over all processes. */
export function limitAttempts(limiters: Limiters, bounds: Bounds): AttemptLimits {
  const limit = (name: string, most: number) =>
    limiters({ name, most, seconds: MINUTES * 60, forgives: true });
  const byAddressAlone = limit('sign_in_address', MAX_TRIES_BY_ADDRESS);
  const byEmailAndAddress = limit('sign_in_member', MAX_TRIES_BY_EMAIL_AND_ADDRESS);
  const byEmail = limit('sign_in_email', UNSLOWED_TRIES);
  const byMember = limit('present_password', MAX_TRIES_OF_PRESENT_PASSWORD);
  const pauses = new Pauses(MAX_SLOWED);

  const refuse = (bound: BoundName, what: string, waitMs: number): never => {
    bounds.reached(bound);
    throw new AppError(
      'rate_limited',
      `Too many ${what}. Wait for ${MINUTES} minutes and try again.`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)), isAtBound: true },
    );
  };
  const count = async (limiter: Limiter, key: string, bound: BoundName) => {
    const waitMs = await limiter.count(key);
    if (waitMs !== null) refuse(bound, 'wrong passwords', waitMs);
  };
  /** @returns how many there were */
  const countByAddress = async (address: string, what = 'wrong passwords'): Promise<number> => {
    const tries = await byAddressAlone.add(address);
    if (tries <= MAX_TRIES_BY_ADDRESS) return tries;
    const waitMs = await byAddressAlone.count(address);
    return refuse('sign_in_address', what, waitMs ?? 0);
  };

  return {
    async useLink(request) {
      const address = byAddress(request);
      const tries = await countByAddress(address, 'tries');
      return { tries, forgive: () => byAddressAlone.takeBack(address) };
    },

    async signIn(request, email) {
      const address = byAddress(request);
      const both = `${email} ${address}`;
      const tries = await countByAddress(address);
      await count(byEmailAndAddress, both, 'sign_in_member');
      const beyond = (await byEmail.add(email)) - UNSLOWED_TRIES;
      if (beyond > 0) {
        bounds.reached('sign_in_slowed');
        await pauses.pause(Math.min(beyond * SLOWER_BY_MS, MAX_SLOWED_MS));
      }
      return {
        tries,
        async forgive() {
          const others = [byAddressAlone.takeBack(address), byEmail.takeBack(email)];
          await Promise.all([...others, byEmailAndAddress.clear(both)]);
        },
      };
    },

    async changePassword(memberId) {
      await count(byMember, memberId, 'present_password');
      return { tries: 0, forgive: () => byMember.clear(memberId) };
    },
  };
}
