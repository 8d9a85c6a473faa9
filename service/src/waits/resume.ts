import type { Deps } from '../platform/deps.ts';
import { jsonIn } from '../platform/json.ts';
import { OutboundError, type OutboundClient } from '../platform/outbound/outboundClient.ts';
import { USER_AGENT } from '../platform/version.ts';
import { recordAttempt, type MadeAttempt } from './resumption.ts';
import type { Wait } from './wait.ts';
import { lockWait, putWait } from './operations/waits.ts';

/** A call of a resume address to make now. */
export interface BegunResume {
  readonly wait: Wait;
  readonly url: string;
  readonly begunAt: Date;
}

/** How long the address may take to answer. */
export const RESUME_TIMEOUT_MS = 10_000;
/** Enough for the message of a JSON answer. Of a page for people, only the status counts. */
const MAX_ANSWER_BYTES = 16 * 1024;

/**
 * Calls the address at which the execution goes on. It holds a signature, so no error and no log
 * names more than its host.
 * @throws the signal's reason, at a stop
 */
export async function callResumeUrl(
  outbound: Pick<OutboundClient, 'request'>,
  { wait, url }: BegunResume,
  stopped: AbortSignal,
): Promise<MadeAttempt> {
  try {
    const { status, body } = await outbound.request({
      workspaceId: wait.workspaceId,
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT },
      body: JSON.stringify({ wait_id: wait.id }),
      timeoutMs: RESUME_TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      onTooLarge: 'cut',
      signal: stopped,
    });
    const said = messageIn(body);
    return {
      status,
      problem: problemOf(wait.resumeHost, status, quoted(said, url)),
      isGone: GONE_ANSWER.test(said),
    };
  } catch (error) {
    stopped.throwIfAborted();
    if (!(error instanceof OutboundError)) throw error;
    return { status: null, problem: `${error.message} ${error.advice}`.trim(), isGone: false };
  }
}

/** n8n's words for an execution that never goes on: it was stopped or failed, or was deleted. */
const GONE_ANSWER = /^The execution "?\w+"? (?:has finished (?:already|with error)|does not exist)/;

const MAX_QUOTE_CHARACTERS = 300;

/** The message in a JSON answer, where n8n and its nodes put it; empty for a page. */
function messageIn(body: Buffer): string {
  const answer = jsonIn(body.toString()) as
    | { message?: unknown; error?: { message?: unknown } }
    | null
    | undefined;
  const said = answer?.message ?? answer?.error?.message;
  return typeof said === 'string' ? said : '';
}

/** The beginning of the message, without what is secret in the address. */
const quoted = (said: string, url: string): string =>
  secretsIn(new URL(url))
    .reduce((text, secret) => text.replace(anyCase(secret), '…'), said)
    .slice(0, MAX_QUOTE_CHARACTERS)
    .toWellFormed();

/** Matches the text in any case: an answer may repeat an address with `%2b` for `%2B`. */
const anyCase = (text: string) => new RegExp(text.replace(/[^\p{L}\p{N}\s]/gu, '\\$&'), 'gi');

/** Shorter parts of an address are numbers and words that any sentence may have. */
const MIN_SECRET_CHARACTERS = 4;
/** A part of the path that is at least this long is an id or a token. */
const MIN_TOKEN_CHARACTERS = 16;

/**
 * The query, its values and the long parts of the path, the longest first: as written, decoded, and
 * encoded again.
 */
function secretsIn({ pathname, search, searchParams }: URL): readonly string[] {
  const values = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1));
  const parts = pathname.split('/').filter((part) => part.length >= MIN_TOKEN_CHARACTERS);
  const secrets = [search.slice(1), ...values, ...searchParams.values(), ...parts].flatMap(
    (written) => [written, decoded(written), encodeURIComponent(decoded(written))],
  );
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARACTERS)
    .sort((a, b) => b.length - a.length);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What an answer means while nobody has collected the wait. */
function problemOf(host: string, status: number, said: string): string {
  const meaning = meaningOf(`${host} answered ${status}`, status);
  return said ? `${meaning} It says: ${said}` : meaning;
}

function meaningOf(answered: string, status: number): string {
  if (status < 300)
    return (
      `${answered}, but the wait was not collected: ` +
      'the execution may be over, or waits for something else.'
    );
  if (status === 404)
    return (
      `${answered}: the execution is not there. ` +
      'It was stopped or removed, or the workflow is not published.'
    );
  if (status === 409) return `${answered}: the execution is not waiting yet, or has ended.`;
  if (status === 401 || status === 403)
    return `${answered}: it does not accept the signature of the address.`;
  return `${answered}.`;
}

/** What the agent is told of a wait whose execution is gone. */
const lostWait = ({ workspaceId, turnId, answer, resume }: Wait) => ({
  workspaceId,
  turnId,
  hasAnswer: answer !== null,
  problem: resume.problem ?? '',
});

/** Records an attempt. Tells the agent when it was the last one and nothing collected the wait. */
export const recordResume = (
  { store, clock, reactions }: Pick<Deps, 'store' | 'clock' | 'reactions'>,
  { wait: { id }, begunAt }: BegunResume,
  attempt: MadeAttempt,
) =>
  store.transaction(async (tx): Promise<Wait | null> => {
    const locked = await lockWait(tx, id);
    if (!locked) return null;
    const now = clock.now();
    const recorded = recordAttempt(locked.wait, attempt, begunAt, now);
    await putWait(tx, recorded);
    const isGivenUp = recorded.resume.state === 'gave_up';
    if (isGivenUp && locked.wait.resume.state !== 'gave_up')
      await reactions.onResumeGivenUp(tx, lostWait(recorded), locked.conversation, now);
    return recorded;
  });
