import { mapStrings } from '../domain/json.ts';
import { RequestRenderError } from '../domain/requestTemplate.ts';
import type { ToolAttemptResult, ToolCallErrorType } from '../domain/toolCall.ts';
import { scrubber } from '../domain/scrubber.ts';
import { OutboundError, type OutboundClient, type OutboundErrorKind } from '../outbound/outboundClient.ts';
import { readAnswer } from './readAnswer.ts';
import { toolRequest, type Envelope, type ToolAddress } from './toolRequest.ts';

/** What waiting for a free connection may take beyond the time-out. */
export const CONNECTION_WAIT_MS = 5000;

/**
 * Calls a tool once. Whatever it answers is without the tool's secrets afterwards, and text that can be
 * said and stored anywhere: without half characters and NUL.
 * @param signal ends the attempt from outside
 * @throws the signal's reason
 * @see spec sections 4 and 7
 */
export async function attemptToolCall(
  outbound: Pick<OutboundClient, 'request'>,
  address: ToolAddress,
  envelope: Envelope,
  { workspaceId, now, timeoutMs, signal }: { workspaceId: string; now: Date; timeoutMs: number; signal: AbortSignal },
): Promise<ToolAttemptResult> {
  const secrets = secretsOf(address);
  const withoutSecrets = scrubber(secrets);
  const clean = (text: string) => withoutSecrets(text).toWellFormed().replaceAll('\0', '\ufffd');
  const isSecret = (number: number) => secrets.includes(String(number));
  const startedAt = performance.now();
  const tooLate = AbortSignal.timeout(timeoutMs + CONNECTION_WAIT_MS);
  try {
    const request = toolRequest(address, envelope, now);
    const response = await outbound.request({ ...request, workspaceId, timeoutMs, signal: AbortSignal.any([signal, tooLate]) });
    return scrub(readAnswer(address, response, clean), clean, isSecret);
  } catch (error) {
    signal.throwIfAborted();
    const failure = tooLate.aborted ? new OutboundError('timeout', `No connection became free within ${timeoutMs + CONNECTION_WAIT_MS} ms.`) : error;
    return scrub(asFailure(failure, Math.round(performance.now() - startedAt)), clean, isSecret);
  }
}

/** Of a signing secret also the part that is the key of the Standard Webhooks signature. */
const secretsOf = (address: ToolAddress): readonly string[] =>
  address.kind === 'Webhook' ? [address.secret, address.secret.replace(/^whsec_/, '')] : Object.values(address.secrets);

const BY_KIND: Record<OutboundErrorKind, { type: ToolCallErrorType; retry: 'at_once' | 'later' | 'never' }> = {
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

/** @throws what is no failure of the call */
function asFailure(error: unknown, durationMs: number): ToolAttemptResult {
  if (error instanceof RequestRenderError) {
    return { type: 'failure', retry: 'never', httpStatus: null, durationMs, error: { type: 'invalid_arguments', message: error.message } };
  }
  if (!(error instanceof OutboundError)) throw error;
  const { type, retry } = BY_KIND[error.kind];
  return { type: 'failure', retry, httpStatus: null, durationMs, error: { type, message: error.message } };
}

/** An endpoint may echo what it was sent: secrets are cut out before anything is stored or shown. */
function scrub(result: ToolAttemptResult, clean: (text: string) => string, isSecret: (number: number) => boolean): ToolAttemptResult {
  if (result.type === 'success') return { ...result, result: mapStrings(result.result, clean, (number) => (isSecret(number) ? clean(String(number)) : number)) };
  return { ...result, error: { ...result.error, message: clean(result.error.message) } };
}
