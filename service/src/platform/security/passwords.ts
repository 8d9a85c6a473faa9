import { extname } from 'node:path';
import type { Logger } from 'pino';
import { AppError } from '../http/errorCatalogue.ts';
import type { Bounds } from '../limits/bounds.ts';
import type { PasswordTask } from './passwordTasks.ts';
import { RestartingThread } from './restartingThread.ts';

/** The password threads as operations see them. */
export type Passwords = Pick<PasswordThreads, 'hash' | 'isRight'>;

/** Each hash keeps a processor busy and takes 19 MiB. More at once would slow all of them down. */
export const MAX_HASHES = 2;
/** This many take a second or two to check. No team signs in faster. */
export const MAX_WAITING = 50;
const RETRY_SECONDS = 2;

/** Stands beside this file, as .ts in the source and as .js in the build. */
const SCRIPT = new URL(`./passwordThread${extname(import.meta.url)}`, import.meta.url);

interface Waiting {
  readonly task: PasswordTask;
  readonly tries: number;
  readonly settle: (answer: Promise<unknown>) => void;
}

/**
 * Hashes passwords with Argon2id and the library's defaults (OWASP's first choice), in threads that
 * do nothing else and start with the first password. In libuv's threads, hashes would delay the
 * writes to the journal.
 *
 * Passwords from the addresses with the fewest tries go first. When the queue is full, the last one
 * is refused. So a member who signs in once goes before all guesses, even if they come from many
 * addresses.
 * @see docs/decisions/0036-passwords-and-sign-in.md
 */
export class PasswordThreads {
  readonly #bounds: Bounds;
  readonly #threads: readonly RestartingThread<PasswordTask>[];
  /** The fewest tries first; with equal tries, the oldest first. */
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  /** @param options.script replaces the thread's script, in tests */
  constructor(options: { bounds: Bounds; log: Pick<Logger, 'error'>; script?: URL | undefined }) {
    const { bounds, log, script = SCRIPT } = options;
    this.#bounds = bounds;
    this.#threads = Array.from(
      { length: MAX_HASHES },
      () => new RestartingThread(script, log, couldNotCheck),
    );
  }

  /**
   * @throws rate_limited (429) when too many passwords wait
   * @throws unavailable (503) when the thread broke
   */
  hash(password: string): Promise<string> {
    return this.#do({ password }) as Promise<string>;
  }

  /**
   * @param passwordHash null when there is no such member; then the answer is false, and takes just
   * as long
   * @param tries how often the same address tried in the last minutes; the fewest tries go first
   * @throws rate_limited (429), unavailable (503) like `hash`
   */
  isRight(password: string, passwordHash: string | null, tries = 0): Promise<boolean> {
    return this.#do({ password, passwordHash }, tries) as Promise<boolean>;
  }

  /** Ends the threads. Passwords that still wait fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { settle } of this.#waiting.splice(0)) settle(Promise.reject(stopping()));
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #do(task: PasswordTask, tries = 0): Promise<unknown> {
    if (this.#isClosed) throw stopping();
    if (this.#waiting.length >= MAX_WAITING) this.#makeRoom(tries);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const firstWithMore = this.#waiting.findIndex((each) => each.tries > tries);
    const at = firstWithMore === -1 ? this.#waiting.length : firstWithMore;
    this.#waiting.splice(at, 0, { task, tries, settle: resolve });
    this.#startNext();
    return promise;
  }

  /**
   * Refuses the waiting password with the most tries.
   * @throws rate_limited (429) when no waiting password has more tries than the new one
   */
  #makeRoom(tries: number): void {
    this.#bounds.reached('password_hashes');
    if (this.#waiting.at(-1)!.tries <= tries) throw tooMany();
    this.#waiting.pop()!.settle(Promise.reject(tooMany()));
  }

  /** Gives the next password to a free thread. */
  #startNext(): void {
    const freeThread = this.#threads.find(({ isBusy }) => !isBusy);
    const next = freeThread && this.#waiting.shift();
    if (!next) return;
    const answer = freeThread.run(next.task);
    next.settle(answer);
    answer.catch(() => {}).finally(() => this.#startNext());
  }
}

const tooMany = (): AppError =>
  new AppError(
    'rate_limited',
    'Too many passwords are being checked at the moment. Try again in a few seconds.',
    { retryAfterSeconds: RETRY_SECONDS, isAtBound: true },
  );

const couldNotCheck = (): AppError =>
  new AppError('unavailable', 'The password could not be checked. Try again in a second.', {
    retryAfterSeconds: 1,
  });

const stopping = (): AppError =>
  new AppError('unavailable', 'The service is stopping. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
