import { extname } from 'node:path';
import type { Logger } from 'pino';
import { AppError } from '../domain/errorCatalogue.ts';
import type { Bounds } from '../limits/bounds.ts';
import type { PasswordOrder } from './passwordThread.ts';
import { ReplacedThread } from './replacedThread.ts';

/** Hashes passwords with Argon2id and the library's defaults (OWASP's first choice). */
export interface Passwords {
  /**
   * @throws rate_limited (429) when too many are waiting, unavailable (503) when its thread broke
   */
  hash(password: string): Promise<string>;
  /**
   * @param passwordHash null when there is no such member, which takes just as long
   * @param tries of the same address in the last minutes; the fewest go first
   * @throws rate_limited (429) when too many are waiting, unavailable (503) when its thread broke
   */
  isRight(password: string, passwordHash: string | null, tries?: number): Promise<boolean>;
}

/** A hash keeps a processor busy and takes 19 MiB, so more at once would be slower together. */
export const MAX_HASHES = 2;
/** These take a second or two. No team signs in faster than that. */
export const MAX_WAITING = 50;
const RETRY_SECONDS = 2;

/** Beside this file, in the source and in the build. */
const SCRIPT = new URL(`./passwordThread${extname(import.meta.url)}`, import.meta.url);

interface Waiting {
  readonly order: PasswordOrder;
  readonly tries: number;
  readonly settle: (answer: Promise<unknown>) => void;
}

/**
 * Hashes in threads of its own, which start with the first password. In libuv's threads, hashes
 * would delay the journal, whose writes those threads confirm.
 * The queue is ordered by the tries of each address, and when it is full the last one is refused. So
 * guesses, from however many addresses, wait behind a member who signs in once.
 * @see docs/decisions/0036
 */
export class PasswordThreads implements Passwords {
  readonly #bounds: Bounds;
  readonly #threads: readonly ReplacedThread<PasswordOrder>[];
  /** The fewest tries first, and the oldest of as many. */
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  /** @param options.script replaces the thread's script, in tests */
  constructor(options: { bounds: Bounds; log: Pick<Logger, 'error'>; script?: URL | undefined }) {
    const { bounds, log, script = SCRIPT } = options;
    this.#bounds = bounds;
    this.#threads = Array.from(
      { length: MAX_HASHES },
      () => new ReplacedThread(script, log, broken),
    );
  }

  hash(password: string): Promise<string> {
    return this.#do({ password }) as Promise<string>;
  }

  isRight(password: string, passwordHash: string | null, tries = 0): Promise<boolean> {
    return this.#do({ password, passwordHash }, tries) as Promise<boolean>;
  }

  /** Ends the threads. Passwords that wait for them fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { settle } of this.#waiting.splice(0)) settle(Promise.reject(stopping()));
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #do(order: PasswordOrder, tries = 0): Promise<unknown> {
    if (this.#isClosed) throw stopping();
    if (this.#waiting.length >= MAX_WAITING) this.#makeRoom(tries);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const after = this.#waiting.findIndex((each) => each.tries > tries);
    const at = after === -1 ? this.#waiting.length : after;
    this.#waiting.splice(at, 0, { order, tries, settle: resolve });
    this.#next();
    return promise;
  }

  /** Refuses the password with the most tries. @throws rate_limited (429) when it is this one */
  #makeRoom(tries: number): void {
    this.#bounds.reached('password_hashes');
    if (this.#waiting.at(-1)!.tries <= tries) throw tooMany();
    this.#waiting.pop()!.settle(Promise.reject(tooMany()));
  }

  /** Gives the next password to a free thread. */
  #next(): void {
    const free = this.#threads.find(({ isBusy }) => !isBusy);
    const first = free && this.#waiting.shift();
    if (!first) return;
    const answer = free.run(first.order);
    first.settle(answer);
    answer.catch(() => {}).finally(() => this.#next());
  }
}

const tooMany = (): AppError =>
  new AppError(
    'rate_limited',
    'Too many passwords are being checked at the moment. Try again in a few seconds.',
    { retryAfterSeconds: RETRY_SECONDS, isAtBound: true },
  );

const broken = (): AppError =>
  new AppError('unavailable', 'The password could not be checked. Try again in a second.', {
    retryAfterSeconds: 1,
  });

const stopping = (): AppError =>
  new AppError('unavailable', 'The service is stopping. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
