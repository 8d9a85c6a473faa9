import type { z } from 'zod';
import type { ErrorCode } from './errorCatalogue.ts';

interface Group {
  readonly tag:
    | 'Subscriptions'
    | 'Conversations'
    | 'Payments'
    | 'Channels'
    | 'Tools'
    | 'Waits'
    | 'Agent'
    | 'Chat';
  /** `key`: an API key; `chat`: a visitor's token. */
  readonly auth: 'key' | 'chat' | 'none';
  /** True when it is not part of the core API; the OpenAPI document marks it `x-extension`. */
  readonly extension?: boolean;
}

/** An operation as a contract writes it. The group or a default fills in what is left out. */
interface Definition<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>
  extends Partial<Group> {
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  /** Absent when the endpoint takes no body. A body that is sent anyway is ignored. */
  readonly body?: Body;
  /** By default 200. */
  readonly status?: 200 | 201 | 202;
  readonly answer: Answer;
  /** Whether some of the work continues after the answer. The status is then 202. */
  continues?(answer: z.input<Answer>): boolean;
  /** By default `application/json`. */
  readonly answerType?: 'text/event-stream';
  /** The errors of this endpoint, besides those that every endpoint of its kind can have. */
  readonly errors?: readonly ErrorCode[];
  /**
   * True when the answer shows a secret or waits for a customer's system. Such an answer is never
   * stored, so the endpoint takes no Idempotency-Key.
   */
  readonly noIdempotencyKey?: boolean;
  /** True when every API key may call the endpoint, whatever its permissions. */
  readonly isForEveryKey?: boolean;
  /** True for a POST that changes nothing: a key that may read may call it. */
  readonly isRead?: boolean;
  /**
   * True when the write may be large, or looks up a name while it runs: in one transaction, it
   * would hold up other writes. It then runs in several transactions, and its answer is stored
   * after the last one. Running it again must do no harm.
   */
  readonly inSteps?: boolean;
  /**
   * What the endpoint adds to the store. Calls are refused with `unavailable` while the memory for
   * it is full. Absent when the endpoint adds little, or nothing that stays.
   */
  readonly addsToStore?: 'visitor' | 'data';
}

/**
 * Describes one endpoint of the API. The same description checks requests, makes the OpenAPI
 * document and checks every answer in the tests.
 */
export interface Operation<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> extends Definition<Query, Body, Answer> {
  readonly method: Method;
  /** As Express writes it, without `/api`: `/hooks/:id`. */
  readonly path: string;
  readonly tag: Group['tag'];
  readonly auth: Group['auth'];
  readonly status: 200 | 201 | 202;
  readonly errors: readonly ErrorCode[];
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/**
 * Makes the function that describes the operations of a group. They have the group's fields, unless
 * they give their own.
 */
export const operationsOf =
  (group: Group) =>
  <Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
    endpoint: `${Uppercase<Method>} /${string}`,
    definition: Definition<Query, Body, Answer>,
  ): Operation<Query, Body, Answer> => {
    const [method, path] = endpoint.split(' ') as [string, string];
    return {
      status: 200,
      errors: [],
      ...group,
      ...definition,
      method: method.toLowerCase() as Method,
      path,
    };
  };
