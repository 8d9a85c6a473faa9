import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errorCatalogue.ts';

/**
 * Describes one endpoint of the API. The same description checks requests, makes the OpenAPI document
 * and checks every answer in the tests.
 */
export interface Operation<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As Express writes it, without `/api`: `/hooks/:id`. */
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
  /** Absent when the endpoint takes no body. A body that is sent anyway is ignored. */
  readonly body?: Body;
  readonly status: 200 | 201 | 202;
  readonly answer: Answer;
  /** Whether the status is 202 instead, since some of the work goes on after the answer. */
  goesOn?(answer: z.input<Answer>): boolean;
  /** By default `application/json`. */
  readonly answerType?: 'text/event-stream';
  /** The errors of this endpoint, besides those that every endpoint can have. */
  readonly errors: readonly ErrorCode[];
  /**
   * True when the answer shows a secret or waits for a customer's system. Such an answer is never
   * stored, so the endpoint takes no Idempotency-Key.
   */
  readonly noIdempotencyKey?: boolean;
  /**
   * True when the write may be large. It then runs in several transactions, and the answer is stored
   * after the last one. Running it again must do no harm.
   */
  readonly inSteps?: boolean;
  /**
   * What the endpoint adds to the store. It is refused with `unavailable` while the memory for that is
   * full. Absent when it adds little, or nothing that stays.
   */
  readonly adds?: 'visitor' | 'data';
}

/** Checks the shape of an operation, and keeps the types of its schemas. */
export const operation = <
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(
  definition: Operation<Query, Body, Answer>,
): Operation<Query, Body, Answer> => definition;
