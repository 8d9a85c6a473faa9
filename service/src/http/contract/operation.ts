import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errorCatalogue.ts';

/**
 * One endpoint of the API, written once: it checks requests, makes its part of the OpenAPI
 * document, and is what the tests hold every answer against.
 */
export interface Operation<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express spelling, without the `/api` before it: `/hooks/:id`. */
  readonly path: string;
  readonly tag:
    | 'Subscriptions'
    | 'Conversations'
    | 'Payments'
    | 'Channels'
    | 'Tools'
    | 'Agent'
    | 'Chat';
  readonly summary: string;
  readonly description?: string;
  /** `key`: an API key; `chat`: a visitor's token. */
  readonly auth: 'key' | 'chat' | 'none';
  /** True for what goes beyond the core interface; the OpenAPI document marks it `x-extension`. */
  readonly extension: boolean;
  readonly query?: Query;
  /** Absent: the endpoint takes no body, and one that is sent is not looked at. */
  readonly body?: Body;
  readonly status: 200 | 201 | 202;
  readonly answer: Answer;
  /** Whether an answer has the status 202 instead: some of the work goes on after it. */
  goesOn?(answer: z.input<Answer>): boolean;
  /** Default `application/json`. */
  readonly answerType?: 'text/event-stream';
  /** What it can fail with, beside what every endpoint can. */
  readonly errors: readonly ErrorCode[];
  /**
   * True when the answer shows a secret, or waits for a customer's system: it is never kept for an
   * Idempotency-Key.
   */
  readonly noIdempotencyKey?: boolean;
  /**
   * True when its write may be large: it runs in several transactions, and the answer is kept after
   * the last. It must do no harm when it is done again.
   */
  readonly inSteps?: boolean;
  /**
   * What it adds to the store: refused with `unavailable` while the memory for it is full. Absent:
   * little, or nothing that stays.
   */
  readonly adds?: 'visitor' | 'data';
}

/** Keeps the schemas' types while checking the shape. */
export const operation = <
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(
  definition: Operation<Query, Body, Answer>,
): Operation<Query, Body, Answer> => definition;
