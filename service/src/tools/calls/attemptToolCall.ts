import { RequestRenderError } from '../definition/renderRequest.ts';
import { deadlineAfter } from '../../platform/async/deadline.ts';
import type { ToolAttemptResult, ToolCallErrorType } from './toolCall.ts';
import {
  OutboundError,
  type OutboundClient,
  type OutboundErrorKind,
} from '../../platform/outbound/outboundClient.ts';
import { MAX_READ_MS, type AnswerReader } from './answerReader.ts';
import { answerCleaner } from './readAnswer.ts';
import { toolRequest, type Envelope, type ToolAddress } from './toolRequest.ts';

/** Added to the time-out, which does not count the wait for a free connection. */
const CONNECTION_WAIT_MS = 5000;

/** How long an attempt takes at most, until its answer is read. */
export const maxAttemptMs = (timeoutMs: number): number =>
  timeoutMs + CONNECTION_WAIT_MS + MAX_READ_MS;

/**
 * Makes one attempt to call a tool. The tool's secrets, lone surrogates and NUL are replaced in its
 * answer, so that the text can be stored and shown anywhere.
 * @param signal ends the attempt from outside
 * @throws the signal's reason
 */
export async function attemptToolCall(
  {
    outbound,
    reader,
  }: { outbound: Pick<OutboundClient, 'request'>; reader: Pick<AnswerReader, 'read'> },
  address: ToolAddress,
  envelope: Envelope,
  {
    workspaceId,
    now,
    timeoutMs,
    signal,
  }: { workspaceId: string; now: Date; timeoutMs: number; signal: AbortSignal },
): Promise<ToolAttemptResult> {
  const clean = answerCleaner(address);
  const startedAt = performance.now();
  using tooLate = deadlineAfter(timeoutMs + CONNECTION_WAIT_MS);
  try {
    const request = toolRequest(address, envelope, now);
    return await outbound.request(
      { ...request, workspaceId, timeoutMs, signal: AbortSignal.any([signal, tooLate.signal]) },
      ({ status, durationMs, headers, body }) =>
        reader.read(
          workspaceId,
          { address, response: { status, durationMs, headers, body } },
          signal,
        ),
    );
  } catch (error) {
    signal.throwIfAborted();
    const wasCutOff = tooLate.signal.aborted && !(error instanceof OutboundError);
    const failure = wasCutOff
      ? new OutboundError(
          'timeout',
          `No connection became free within ${timeoutMs + CONNECTION_WAIT_MS} ms.`,
        )
      : error;
    return toFailure(failure, Math.round(performance.now() - startedAt), clean);
  }
}

const FAILURES: Record<
  OutboundErrorKind,
  { type: ToolCallErrorType; retry: 'at_once' | 'later' | 'never' }
> = {
  timeout: { type: 'timeout', retry: 'at_once' },
  network: { type: 'network', retry: 'later' },
  tls: { type: 'network', retry: 'later' },
  unresolvable: { type: 'network', retry: 'later' },
  busy: { type: 'network', retry: 'later' },
  too_large: { type: 'too_large', retry: 'never' },
  redirect: { type: 'redirect', retry: 'never' },
  blocked_address: { type: 'blocked_address', retry: 'never' },
  not_https: { type: 'blocked_address', retry: 'never' },
  invalid_url: { type: 'blocked_address', retry: 'never' },
  invalid_request: { type: 'invalid_arguments', retry: 'never' },
};

/** @throws every error that is not a failure of the call */
function toFailure(
  error: unknown,
  durationMs: number,
  clean: (text: string) => string,
): ToolAttemptResult {
  if (!(error instanceof RequestRenderError || error instanceof OutboundError)) throw error;
  const kind = error instanceof OutboundError ? error.kind : 'invalid_request';
  const { type, retry } = FAILURES[kind];
  return {
    type: 'failure',
    retry,
    httpStatus: null,
    durationMs,
    error: { type, message: clean(error.message) },
  };
}
