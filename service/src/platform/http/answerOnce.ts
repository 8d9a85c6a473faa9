import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { timestamp } from '../clock.ts';
import type { Tx } from '../../store/collections.ts';
import { inOneTransaction, type Deps } from '../deps.ts';
import { AppError, errorWithFix } from './errorCatalogue.ts';
import type { Caller } from './caller.ts';
import type { Operation } from './operation.ts';

const STORED_FOR_MS = 24 * 60 * 60 * 1000;
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/** An answer as it is stored for an Idempotency-Key. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Runs a write at most once for each Idempotency-Key, within workspace, method and path. The first
 * answer is stored for 24 hours in the same transaction as the write, so a crash never leaves one
 * without the other. A second request with the key waits for the first. Without the header, the
 * write simply runs. A refusal is not stored: it wrote nothing, and the caller may correct the
 * request and try again.
 *
 * An operation that runs `inSteps` stores its answer after the last step. After a crash, it runs
 * again; two requests with the key at the same time both run, until one of them has answered.
 * @param check runs before the write and outside any transaction, so it may make outbound calls. It
 * refuses by throwing
 * @throws idempotency_key_reused (409) when the key was already used with another body
 */
export async function answerOnce(
  deps: Deps,
  operation: Operation,
  request: Request,
  caller: Caller | undefined,
  run: (deps: Deps) => Promise<StoredAnswer>,
  check?: () => Promise<void>,
): Promise<StoredAnswer> {
  const key = request.get('idempotency-key');
  if (key === undefined) {
    await check?.();
    return run(deps);
  }
  assertUsable(key, operation);
  const answers = new AnswersOfKey(deps, key, request, caller);
  if (operation.inSteps || check) {
    const first = await deps.store.transaction((tx) => answers.find(tx));
    if (first) return first;
    await check?.();
  }
  if (operation.inSteps) return answers.runInSteps(run);
  return inOneTransaction(deps, async (within, tx) => {
    const first = await answers.find(tx);
    if (first) return first;
    const answer = await run(within);
    await answers.store(tx, answer);
    return answer;
  });
}

/** The stored answers for one Idempotency-Key of one caller and endpoint. */
class AnswersOfKey {
  readonly #deps: Deps;
  readonly #caller: Caller | undefined;
  readonly #id: string;
  readonly #requestHash: string;

  constructor(deps: Deps, key: string, request: Request, caller: Caller | undefined) {
    this.#deps = deps;
    this.#caller = caller;
    this.#id = sha256([
      caller?.workspace.id,
      caller?.contact?.id,
      request.method,
      request.originalUrl,
      key,
    ]);
    this.#requestHash = sha256([request.body ?? null]);
  }

  /**
   * @returns null when no answer is stored, or it has expired
   * @throws idempotency_key_reused (409)
   */
  async find(tx: Tx): Promise<StoredAnswer | null> {
    const { clock, secrets } = this.#deps;
    const stored = await tx.idempotentAnswers.get(this.#id);
    if (!stored || Date.parse(stored.expiresAt) <= clock.now().getTime()) return null;
    if (stored.requestHash === this.#requestHash)
      return { status: stored.status, body: secrets.open(stored.sealedBody) };
    throw errorWithFix(
      'idempotency_key_reused',
      'This Idempotency-Key was already used with another body.',
    );
  }

  async store(tx: Tx, { status, body }: StoredAnswer): Promise<void> {
    const { clock, secrets } = this.#deps;
    await tx.idempotentAnswers.put({
      id: this.#id,
      kind: 'idempotent_answer',
      ...(this.#caller && { workspaceId: this.#caller.workspace.id }),
      requestHash: this.#requestHash,
      status,
      sealedBody: secrets.seal(body),
      expiresAt: timestamp(new Date(clock.now().getTime() + STORED_FOR_MS)),
    });
  }

  /**
   * Runs a write of several transactions. None of them begins once another request with the key has
   * answered: the transaction would overwrite later changes.
   */
  async runInSteps(run: (deps: Deps) => Promise<StoredAnswer>): Promise<StoredAnswer> {
    let first = null as StoredAnswer | null;
    const transaction: Deps['store']['transaction'] = (step) =>
      this.#deps.store.transaction(async (tx) => {
        first = await this.find(tx);
        if (first) throw new Error('Another request with the key has answered.');
        return step(tx);
      });
    try {
      const answer = await run({ ...this.#deps, store: { transaction } });
      return await this.#deps.store.transaction((tx) => this.findOrStore(tx, answer));
    } catch (error) {
      if (first) return first;
      throw error;
    }
  }

  /** When two requests with the key ran at the same time, both get the answer stored first. */
  async findOrStore(tx: Tx, answer: StoredAnswer): Promise<StoredAnswer> {
    const first = await this.find(tx);
    if (!first) await this.store(tx, answer);
    return first ?? answer;
  }
}

/** @throws idempotency_key_not_allowed, invalid_request (400) */
function assertUsable(key: string, { noIdempotencyKey }: Operation): void {
  if (noIdempotencyKey)
    throw errorWithFix('idempotency_key_not_allowed', 'This call takes no Idempotency-Key.');
  if (!KEY_PATTERN.test(key))
    throw new AppError(
      'invalid_request',
      'Idempotency-Key must be 1 to 255 visible ASCII characters.',
      { param: 'Idempotency-Key' },
    );
}

const sha256 = (parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
