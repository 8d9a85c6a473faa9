import type { Document } from '../../store/store.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Decision } from '../../platform/decision.ts';
import { newId } from '../../platform/ids.ts';
import type { Json, JsonObject } from '../../platform/json.ts';
import { shorten } from '../../platform/shorten.ts';
import type { PaymentProvider } from '../../payments/index.ts';
import type { ToolKind } from '../tool.ts';

/**
 * A tool call: a requested action with arguments and a result, and the rules for its attempts. Its id
 * is the `tool_call_id`, the same for every attempt.
 */

export const TOOL_CALL_STATUSES = [
  'pending_approval',
  'running',
  'succeeded',
  'failed',
  'rejected',
  'expired',
  'cancelled',
] as const;
export type ToolCallStatus = (typeof TOOL_CALL_STATUSES)[number];

export const TOOL_CALL_ERROR_TYPES = [
  'timeout',
  'network',
  'http_status',
  'invalid_response',
  'too_large',
  'blocked_address',
  'redirect',
  'interrupted',
  'invalid_arguments',
  'refused',
] as const;
export type ToolCallErrorType = (typeof TOOL_CALL_ERROR_TYPES)[number];

interface ToolCallError {
  readonly type: ToolCallErrorType;
  /** What happened, in a sentence. */
  readonly message: string;
}

export interface ToolCall extends Document {
  readonly workspaceId: string;
  /** Null for a built-in tool, and when the agent named a tool that does not exist. */
  readonly toolId: string | null;
  /** The tool's name. */
  readonly tool: string;
  /** `BuiltIn`: the service makes the call itself, without a request. */
  readonly kind: ToolKind | 'BuiltIn';
  /** For a payment link: where the money goes. It is stored so that an approval covers it. */
  readonly provider?: PaymentProvider;
  readonly arguments: JsonObject;
  /** Null for a test call. */
  readonly conversationId: string | null;
  /**
   * `agent`: in a conversation. `test`: a person tries the tool. `go_live`: a test after which the tool
   * goes live.
   */
  readonly purpose: 'agent' | 'test' | 'go_live';
  /** The definition that the call was made for. */
  readonly definitionHash: string;
  /**
   * The agent's step that asked for this call: calls of one step belong together. Null for a test.
   */
  readonly stepId: string | null;
  /** The conversation's control epoch when the agent asked for this call. */
  readonly controlEpoch: number;
  /** The conversation's number of messages when the agent asked for this call. */
  readonly afterMessage: number;
  readonly status: ToolCallStatus;
  /** Attempts begun so far. */
  readonly attempts: number;
  /** An attempt has begun and its result is not recorded. The process that made it may have died. */
  readonly isUnderWay: boolean;
  readonly httpStatus: number | null;
  /** The sum of all attempts. */
  readonly durationMs: number;
  /**
   * The answer as JSON text, which takes a fraction of the memory of the value. Null until the call
   * has succeeded.
   */
  readonly resultJson: string | null;
  /** The result counts towards `MAX_LARGE_RESULTS_CHARACTERS`. Stored so that it can be indexed. */
  readonly hasLargeResult: boolean;
  readonly error: ToolCallError | null;
  /** The call waits, or waited, for a person's decision. */
  readonly neededApproval: boolean;
  readonly decision: Decision | null;
  /** When an approval that nobody decides expires. */
  readonly expiresAt: string | null;
  /** False while the customer still has to be told how the call ended. */
  readonly isTold: boolean;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

/**
 * Results of at least this many characters of JSON are kept whole only while all of them together
 * stay below `MAX_LARGE_RESULTS_CHARACTERS`.
 */
export const LARGE_RESULT_CHARACTERS = 64 * 1024;
export const MAX_LARGE_RESULTS_CHARACTERS = 48 * 1024 * 1024;
const DROPPED_RESULT_EXCERPT_CHARACTERS = 8 * 1024;

const storedResult = (resultJson: string): Pick<ToolCall, 'resultJson' | 'hasLargeResult'> => ({
  resultJson,
  hasLargeResult: resultJson.length >= LARGE_RESULT_CHARACTERS,
});

/** Removes a large result to make room. Its beginning stays, as text. */
export const dropResult = (call: ToolCall): ToolCall => ({
  ...call,
  resultJson: JSON.stringify(
    `${(call.resultJson ?? '').slice(0, DROPPED_RESULT_EXCERPT_CHARACTERS).toWellFormed()}… (the rest was removed to make room for newer results)`,
  ),
  hasLargeResult: false,
});

export const resultOf = ({ resultJson }: Pick<ToolCall, 'resultJson'>): Json =>
  resultJson === null ? null : (JSON.parse(resultJson) as Json);

const PAGE_EXCERPT_CHARACTERS = 20_000;

/**
 * The result as a page shows it: a large one as the beginning of its JSON text, which is not parsed.
 */
export const resultBeginning = (call: Pick<ToolCall, 'resultJson'>): Json =>
  (call.resultJson?.length ?? 0) < LARGE_RESULT_CHARACTERS
    ? resultOf(call)
    : shorten(call.resultJson!, PAGE_EXCERPT_CHARACTERS);

export const TOOL_CALL_QUEUE = 'tool_calls';
/** Test calls have no conversation. Requests and the API give this id in its place. */
export const TEST_CONVERSATION_ID = 'conv_test';
export const MAX_TOOL_CALL_ATTEMPTS = 3;
/**
 * A tool that is about to go live may answer 401 or 503 for this long: n8n learns a new secret only
 * a moment after the tool is published.
 */
const GO_LIVE_PATIENCE_MS = 60_000;
const GO_LIVE_RETRY_MS = 2000;

/** The state of a call before its first attempt. */
const UNSENT = {
  status: 'running',
  attempts: 0,
  isUnderWay: false,
  httpStatus: null,
  durationMs: 0,
  resultJson: null,
  hasLargeResult: false,
  error: null,
  neededApproval: false,
  decision: null,
  expiresAt: null,
  finishedAt: null,
} as const satisfies Partial<ToolCall>;

/** Makes a call that is due at once and has not been sent. */
export const newToolCall = (
  request: Omit<ToolCall, keyof typeof UNSENT | 'id' | 'createdAt'>,
  now: Date,
): ToolCall => ({ ...request, ...UNSENT, id: newId('call'), createdAt: timestamp(now) });

export const isBuiltIn = ({ kind }: Pick<ToolCall, 'kind'>): boolean => kind === 'BuiltIn';

export const isComplete = ({ status }: ToolCall): boolean =>
  status !== 'pending_approval' && status !== 'running';

/** The result of one attempt. */
export type ToolAttemptResult =
  | {
      readonly type: 'success';
      readonly httpStatus: number;
      readonly durationMs: number;
      readonly resultJson: string;
    }
  | {
      readonly type: 'failure';
      /**
       * `at_once`: after a time-out. `later`: with backoff. `never`: another attempt could not help or
       * could do harm.
       */
      readonly retry: 'at_once' | 'later' | 'never';
      readonly httpStatus: number | null;
      readonly durationMs: number;
      readonly error: ToolCallError;
    };

/** Counts an attempt. It is saved before anything is sent, so a crash cannot hide the attempt. */
export const beginAttempt = (call: ToolCall): ToolCall => ({
  ...call,
  attempts: call.attempts + 1,
  isUnderWay: true,
});

/**
 * Records the result of an attempt.
 * @returns the call after it, and when the next attempt is due (ms since the epoch); null when the
 * call is complete
 */
export function recordToolAttempt(
  call: ToolCall,
  result: ToolAttemptResult,
  retryDelaysMs: readonly number[],
  now: Date,
): { call: ToolCall; nextAttemptAt: number | null } {
  const made = {
    ...call,
    isUnderWay: false,
    httpStatus: result.httpStatus,
    durationMs: call.durationMs + result.durationMs,
  };
  if (result.type === 'success')
    return {
      call: complete({ ...made, ...storedResult(result.resultJson) }, 'succeeded', now),
      nextAttemptAt: null,
    };
  const nextAttemptAt = nextAttemptAfter(made, result, retryDelaysMs, now);
  const failed = { ...made, error: result.error };
  return { call: nextAttemptAt === null ? complete(failed, 'failed', now) : failed, nextAttemptAt };
}

function nextAttemptAfter(
  call: ToolCall,
  result: ToolAttemptResult & { type: 'failure' },
  retryDelaysMs: readonly number[],
  now: Date,
): number | null {
  if (isWarmingUp(call)) {
    const next = now.getTime() + GO_LIVE_RETRY_MS;
    return hasAttemptsLeft(call, next) ? next : null;
  }
  if (result.retry === 'never' || !hasAttemptsLeft(call, now.getTime())) return null;
  return now.getTime() + (result.retry === 'at_once' ? 0 : (retryDelaysMs[call.attempts - 1] ?? 0));
}

/** The tool is about to go live, and its last answer was one that a retry may soon change. */
const isWarmingUp = ({ purpose, httpStatus }: ToolCall): boolean =>
  purpose === 'go_live' && (httpStatus === 401 || httpStatus === 503);

/** @param at when the next attempt would be made */
const hasAttemptsLeft = (call: ToolCall, at: number): boolean =>
  isWarmingUp(call)
    ? at < Date.parse(call.createdAt) + GO_LIVE_PATIENCE_MS
    : call.attempts < MAX_TOOL_CALL_ATTEMPTS;

/**
 * Recovers a call whose process died during an attempt. A Webhook call uses its remaining attempts,
 * since the endpoint can recognise its id. An HTTP call carries no such id, so its API could not
 * tell a retry from a new call: it fails as `interrupted`.
 */
export function recoverInterrupted(call: ToolCall, now: Date): ToolCall {
  if (!call.isUnderWay) return call;
  if (call.kind === 'Webhook' && hasAttemptsLeft(call, now.getTime()))
    return { ...call, isUnderWay: false };
  const error = {
    type: 'interrupted',
    message:
      'The service stopped in the middle of the call; whether it was carried out is not known.',
  } as const;
  return complete({ ...call, isUnderWay: false, error }, 'failed', now);
}

/** Completes a call that the service has carried out itself. */
export const succeed = (call: ToolCall, result: Json, now: Date): ToolCall =>
  complete({ ...call, ...storedResult(JSON.stringify(result)) }, 'succeeded', now);

/**
 * Completes a call that the service could not carry out; nothing was done.
 * @param message why, in a sentence
 */
export const refuse = (call: ToolCall, message: string, now: Date): ToolCall =>
  complete({ ...call, error: { type: 'refused', message } }, 'failed', now);

type CompletedStatus = Exclude<ToolCallStatus, 'pending_approval' | 'running'>;

/** Completes a call. A success removes the error of an earlier attempt. */
export const complete = (call: ToolCall, status: CompletedStatus, now: Date): ToolCall => ({
  ...call,
  status,
  error: status === 'succeeded' ? null : call.error,
  expiresAt: null,
  finishedAt: timestamp(now),
});
