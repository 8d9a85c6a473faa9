import type { Request } from 'express';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { byAddress } from '../../platform/http/server/rateLimit.ts';
import type { BoundName, Bounds } from '../../platform/limits/bounds.ts';
import type { Limiter, Limiters } from '../../platform/limits/limiter.ts';

/** How long a failed attempt counts. */
const MINUTES = 15;

/** For one email from one IP address. */
const MAX_TRIES_BY_EMAIL_AND_ADDRESS = 10;
/** For one IP address. A whole office can sign in from it; successful attempts do not count. */
const MAX_TRIES_BY_ADDRESS = 100;
/** For the current password, when a member changes it. */
const MAX_TRIES_OF_CURRENT_PASSWORD = 5;

/** For one email from any address: this many attempts are answered without delay. */
const UNSLOWED_TRIES = 10;
/** Each further attempt waits this much longer. */
const SLOWER_BY_MS = 100;
/** Long enough to slow an attacker down, short enough for the member who is attacked. */
const MAX_SLOWED_MS = 3_000;
/** Attempts that wait at the same time. Each keeps a connection open. */
const MAX_SLOWED = 100;

/** An attempt counts before the password is checked, so that many at once cannot get around it. */
interface Attempt {
  /**
   * Call it when the attempt succeeds, which then no longer counts. Earlier mistakes of the member
   * (from this address, at the sign-in) no longer count either.
   */
  forgive(): Promise<void>;
}

interface SignInAttempt extends Attempt {
  /** Failed attempts from this address in the last minutes, including this one. */
  readonly tries: number;
}

/** Limits attempts to sign in. Each function throws rate_limited (429) after too many. */
export interface AttemptLimits {
  /** With a link: to join, to set up, or to choose a new password. Counts by address. */
  useLink(request: Request): Promise<Attempt>;
  /**
   * With email and password. Counts by address first, so that a refused address adds no other
   * counters, then by email and address. An email alone is never refused, or anyone could lock a
   * member out: from the eleventh attempt on, answers are delayed by up to three seconds.
   * @param email normalised
   */
  signIn(request: Request, email: string): Promise<SignInAttempt>;
  /** With the current password of a signed-in member. */
  changePassword(memberId: string): Promise<Attempt>;
}

/** Counts across all processes. */
export function limitAttempts(limiters: Limiters, bounds: Bounds): AttemptLimits {
  const limit = (name: string, most: number) =>
    limiters({ name, most, seconds: MINUTES * 60, forgives: true });
  const byAddressAlone = limit('sign_in_address', MAX_TRIES_BY_ADDRESS);
  const byEmailAndAddress = limit('sign_in_member', MAX_TRIES_BY_EMAIL_AND_ADDRESS);
  const byEmail = limit('sign_in_email', UNSLOWED_TRIES);
  const byMember = limit('present_password', MAX_TRIES_OF_CURRENT_PASSWORD);
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
  /** @returns how many attempts there were */
  const countByAddress = async (address: string, what = 'wrong passwords'): Promise<number> => {
    const tries = await byAddressAlone.add(address);
    if (tries <= MAX_TRIES_BY_ADDRESS) return tries;
    const waitMs = await byAddressAlone.count(address);
    return refuse('sign_in_address', what, waitMs ?? 0);
  };

  return {
    async useLink(request) {
      const address = byAddress(request);
      await countByAddress(address, 'attempts');
      return { forgive: () => byAddressAlone.takeBack(address) };
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
      return { forgive: () => byMember.clear(memberId) };
    },
  };
}

/** Holds requests back for a while. When too many wait, the oldest continues early. */
export class Pauses {
  readonly #maxWaiting: number;
  /** Each ends one pause; the oldest comes first. */
  readonly #ends = new Set<() => void>();

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** How many requests wait. */
  get size(): number {
    return this.#ends.size;
  }

  pause(ms: number): Promise<void> {
    if (this.#ends.size >= this.#maxWaiting) this.#ends.values().next().value!();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#ends.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#ends.add(end);
    });
  }
}
