import { maskEmail, maskJson, maskText } from '../platform/masking.ts';
import type { Json } from '../platform/json.ts';
import type { WaitView } from './operations/waits.ts';
import type { WaitAnswer, WaitDecision } from './wait.ts';

/** Masks a text for the one who reads a wait. */
type Mask = (text: string) => string;

/**
 * A wait as the API shows it, never with its address. Contact details, and the e-mail that a customer
 * was asked for, are in the clear for the key that made the wait alone.
 * @param reader the API key that asks
 */
export function waitJson({ wait, contact }: WaitView, reader: { readonly id: string } | null) {
  const isMaker = reader?.id === wait.apiKeyId;
  const known = isMaker ? null : contact;
  const asked = isMaker || wait.accept.type !== 'email' ? null : wait.answer?.value;
  const mask: Mask = (text) => {
    const masked = known === null ? text : maskText(text, known);
    return typeof asked === 'string' ? maskText(masked, { phone: null, email: asked }) : masked;
  };
  return {
    id: wait.id,
    kind: wait.kind,
    status: wait.status,
    conversation_id: wait.conversationId,
    turn_id: wait.turnId,
    message: mask(wait.message),
    details:
      wait.details &&
      ((known === null ? wait.details : maskJson(wait.details, known)) as Record<string, Json>),
    accept: { type: wait.accept.type, choices: [...wait.accept.choices] },
    approve_label: wait.approveLabel,
    reject_label: wait.rejectLabel,
    answer: wait.answer && answerJson(wait.answer, mask, typeof asked === 'string'),
    decision: wait.decision && decisionJson(wait.decision, mask),
    cancelled_by: wait.cancelledBy
      ? { type: wait.cancelledBy.type, name: mask(wait.cancelledBy.name) }
      : null,
    created_by: { type: wait.createdBy.type, name: mask(wait.createdBy.name) },
    expires_at: wait.expiresAt,
    created_at: wait.createdAt,
    ended_at: wait.endedAt,
    collected_at: wait.collectedAt,
    resume: {
      host: wait.resumeHost,
      state: wait.resume.state,
      problem: wait.resume.problem,
      next_attempt_at: wait.resume.nextAt,
      attempts: wait.resume.attempts.map(({ at, status, problem }) => ({ at, status, problem })),
    },
  };
}

const answerJson = (
  { messages, value, secondsWaited }: WaitAnswer,
  mask: Mask,
  isEmail: boolean,
) => ({
  text: mask(messages.map(({ text }) => text).join('\n')),
  value: typeof value !== 'string' ? value : isEmail ? maskEmail(value) : mask(value),
  messages: messages.map(({ id, text, createdAt }) => ({
    id,
    text: mask(text),
    created_at: createdAt,
  })),
  seconds_waited: secondsWaited,
});

const decisionJson = ({ approved, by, note, at }: WaitDecision, mask: Mask) => ({
  approved,
  by: { type: by.type, name: mask(by.name) },
  note: note === null ? null : mask(note),
  at,
});
