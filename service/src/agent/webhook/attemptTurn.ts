import { isJsonObject, jsonIn } from '../../platform/json.ts';
import { deadlineAfter } from '../../platform/async/deadline.ts';
import {
  isUnsent,
  OutboundError,
  type OutboundClient,
  type OutboundResponse,
} from '../../platform/outbound/outboundClient.ts';
import { answerCleaner, signedPost } from '../../tools/index.ts';
import { readAnswer, UnreadableAnswer } from './readAnswer.ts';
import type { TurnAnswer } from './webhookTurn.ts';

/** What one HTTP call of a turn led to. */
export type TurnAttempt =
  | { readonly type: 'answer'; readonly answer: TurnAnswer }
  /** 202: the answer comes through the API. */
  | { readonly type: 'accepted' }
  /**
   * Nothing of the turn can have begun, so it may be sent again.
   * @property isUnauthorized the workflow does not know the secret (any more, or yet)
   */
  | { readonly type: 'not_begun'; readonly problem: string; readonly isUnauthorized: boolean }
  /** A 2xx that is no answer. */
  | { readonly type: 'unreadable'; readonly problem: string }
  | { readonly type: 'failure'; readonly problem: string };

export interface TurnToSend {
  readonly id: string;
  readonly workspaceId: string;
  readonly endpoint: string;
  readonly secret: string;
  readonly body: string;
  readonly timeoutMs: number;
}

/** How much longer an attempt may take than the time-out, while it waits for a free connection. */
const CONNECTION_WAIT_MS = 500;
/** The largest answer that is read. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Sends a turn once and reads what comes back.
 * @param signal ends the attempt from outside
 * @throws the signal's reason
 */
export async function attemptTurn(
  outbound: Pick<OutboundClient, 'request'>,
  { id, workspaceId, endpoint, secret, body, timeoutMs }: TurnToSend,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<TurnAttempt> {
  const clean = answerCleaner({ kind: 'Webhook', endpoint, secret });
  using tooLate = deadlineAfter(timeoutMs + CONNECTION_WAIT_MS);
  try {
    return await outbound.request(
      {
        ...signedPost({ endpoint, secret }, { id, body, maxBytes: MAX_ANSWER_BYTES }, now),
        workspaceId,
        timeoutMs,
        signal: AbortSignal.any([signal, tooLate.signal]),
      },
      async (response) => readResponse(response, clean),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OutboundError && isUnsent(error))
      return { type: 'not_begun', problem: clean(error.message), isUnauthorized: false };
    if (error instanceof OutboundError) return { type: 'failure', problem: clean(error.message) };
    if (!tooLate.signal.aborted) throw error;
    return { type: 'failure', problem: `No answer came within ${timeoutMs / 1000} s.` };
  }
}

const EXCERPT_CHARACTERS = 200;

function readResponse(response: OutboundResponse, clean: (text: string) => string): TurnAttempt {
  const { status, body } = response;
  if (status === 202) return { type: 'accepted' };
  if (status >= 200 && status < 300) return readSuccess(response, clean);
  const problem = inWords(status, clean(messageIn(new TextDecoder().decode(body)).trim()));
  if (status === 404 || status === 503 || status === 401)
    return { type: 'not_begun', problem, isUnauthorized: status === 401 };
  return { type: 'failure', problem };
}

function readSuccess(response: OutboundResponse, clean: (text: string) => string): TurnAttempt {
  try {
    return { type: 'answer', answer: readAnswer(response, clean) };
  } catch (error) {
    if (!(error instanceof UnreadableAnswer)) throw error;
    return { type: 'unreadable', problem: error.message };
  }
}

function inWords(status: number, text: string): string {
  if (status >= 300 && status < 400)
    return `The workflow's address answered ${status}; redirects are not followed.`;
  const excerpt = [...text.slice(0, 2 * EXCERPT_CHARACTERS)].slice(0, EXCERPT_CHARACTERS).join('');
  const problem = `The workflow's address answered ${status}${excerpt === '' ? '.' : `: ${excerpt}`}`;
  return status === 500
    ? `${problem.replace(/\.$/, '')}. n8n shows why under Executions.`
    : problem;
}

/** n8n says `{"message": "Error in workflow"}` when a node failed. */
function messageIn(text: string): string {
  const answer = jsonIn(text);
  const message = isJsonObject(answer) ? answer.message : undefined;
  return typeof message === 'string' ? message : text;
}
