import { actorJson, decisionJson, type Mask } from '../platform/decision.ts';
import { maskEmail, maskJson, maskText } from '../platform/masking.ts';
import type { Json } from '../platform/json.ts';
import type { WaitView } from './operations/waits.ts';
import type { AnswerValue } from './accept.ts';
import type { WaitAnswer } from './wait.ts';

/**
 * A wait as the API shows it, never with its address. Contact details, and the e-mail that a customer
 * was asked for, are in the clear only for the API key that opened the wait.
 * @param reader the API key that reads the wait
 */
export function waitJson({ wait, contact }: WaitView, reader: { readonly id: string } | null) {
  const isMaker = reader?.id === wait.apiKeyId;
  const hidden = isMaker ? null : contact;
  const email = isMaker || wait.accept.type !== 'email' ? null : wait.answer?.value;
  const mask: Mask = (text) => {
    const masked = hidden === null ? text : maskText(text, hidden);
    return typeof email === 'string' ? maskText(masked, { phone: null, email }) : masked;
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
      ((hidden === null ? wait.details : maskJson(wait.details, hidden)) as Record<string, Json>),
    accept: { type: wait.accept.type, choices: wait.accept.choices.map(mask) },
    approve_label: wait.approveLabel && mask(wait.approveLabel),
    reject_label: wait.rejectLabel && mask(wait.rejectLabel),
    answer: wait.answer && answerJson(wait.answer, mask, typeof email === 'string'),
    decision: wait.decision && decisionJson(wait.decision, mask),
    cancelled_by: wait.cancelledBy ? actorJson(wait.cancelledBy, mask) : null,
    created_by: actorJson(wait.createdBy, mask),
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
  value: value === null ? null : maskedValue(value, isEmail ? maskEmail : mask),
  messages: messages.map(({ id, text, createdAt }) => ({
    id,
    text: mask(text),
    created_at: createdAt,
  })),
  seconds_waited: secondsWaited,
});

/** A number stays a number, unless it is masked as a phone number. */
function maskedValue(value: AnswerValue, mask: Mask): AnswerValue {
  const masked = mask(String(value));
  return masked === String(value) ? value : masked;
}
