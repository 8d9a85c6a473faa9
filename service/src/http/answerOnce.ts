import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { timestamp } from '../domain/clock.ts';
import type { IdempotentAnswer, Tx } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import { inOneTransaction } from '../domain/inOneTransaction.ts';
import type { Caller } from './authentication.ts';
import type { Operation } from './contract/operation.ts';
import { errorJson } from './errors.ts';

const KEPT_FOR_MS = 24 * 60 * 60 * 1000;
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * Runs a write at most once for each Idempotency-Key, within workspace, method and path. The first
 * answer is kept for 24 hours in the same transaction as the write itself, so that a crash can
 * never leave one without the other; a running twin is waited for. Without the header it simply
 * runs. An operation that runs `inSteps` is kept when it has ended; after a crash it is done again.
 * @throws idempotency_key_reused (409) when the key came with another body before
 * @see design section 3, Success
 */
export async function answerOnce(
  deps: Deps,
  operation: Operation,
  request: Request,
  caller: Caller | undefined,
  run: (deps: Deps) => Promise<Answer>,
): Promise<Answer> {
  const key = request.get('idempotency-key');
  if (key === undefined) return run(deps);
  assertUsable(key, operation);
  const id = sha256([
    caller?.workspace.id,
    caller?.contact?.id,
    request.method,
    request.originalUrl,
    key,
  ]);
  const requestHash = sha256([request.body ?? null]);
  const keep = ({ status, body }: Answer): IdempotentAnswer => ({
    id,
    kind: 'idempotent_answer',
    ...(caller && { workspaceId: caller.workspace.id }),
    requestHash,
    status,
    sealedBody: deps.secrets.seal(body),
    expiresAt: timestamp(new Date(deps.clock.now().getTime() + KEPT_FOR_MS)),
  });

  /** Of twins that ran beside each other, the answer of the first is everybody's. */
  const firstOf = async (tx: Tx, answer: Answer): Promise<Answer> => {
    const first = await firstAnswer(tx, deps, id, requestHash);
    if (!first) await tx.idempotentAnswers.put(keep(answer));
    return first ?? answer;
  };
  try {
    if (operation.inSteps) {
      const first = await deps.store.transaction((tx) => firstAnswer(tx, deps, id, requestHash));
      if (first) return first;
      const answer = await run(deps);
      return await deps.store.transaction((tx) => firstOf(tx, answer));
    }
    return await inOneTransaction(deps, async (within, tx) => {
      const first = await firstAnswer(tx, deps, id, requestHash);
      if (first) return first;
      const answer = await run(within);
      await tx.idempotentAnswers.put(keep(answer));
      return answer;
    });
  } catch (error) {
    if (!isRemembered(error)) throw error;
    // The write was undone as a whole; what it was refused with is the first answer.
    return deps.store.transaction((tx) =>
      firstOf(tx, { status: error.status, body: JSON.stringify(errorJson(error, request.id)) }),
    );
  }
}

function assertUsable(key: string, { noIdempotencyKey }: Operation): void {
  if (noIdempotencyKey)
    throw new AppError(
      'idempotency_key_not_allowed',
      `This call takes no Idempotency-Key. ${ERROR_CATALOGUE.idempotency_key_not_allowed.fix}`,
    );
  if (!KEY_PATTERN.test(key)) {
    throw new AppError(
      'invalid_request',
      'Idempotency-Key must be 1 to 255 visible ASCII characters.',
      { param: 'Idempotency-Key' },
    );
  }
}

async function firstAnswer(
  tx: Tx,
  { clock, secrets }: Deps,
  id: string,
  requestHash: string,
): Promise<Answer | null> {
  const kept = await tx.idempotentAnswers.get(id);
  if (!kept || Date.parse(kept.expiresAt) <= clock.now().getTime()) return null;
  if (kept.requestHash === requestHash)
    return { status: kept.status, body: secrets.open(kept.sealedBody) };
  throw new AppError(
    'idempotency_key_reused',
    `This Idempotency-Key came with another body before. ${ERROR_CATALOGUE.idempotency_key_reused.fix}`,
  );
}

/** A 429 and a 5xx pass; asking again may succeed. A reused key belongs to the other request. */
const isRemembered = (error: unknown): error is AppError =>
  error instanceof AppError &&
  error.status < 500 &&
  error.status !== 429 &&
  error.code !== 'idempotency_key_reused';

const sha256 = (parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
