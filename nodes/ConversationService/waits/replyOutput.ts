import type { IDataObject } from 'n8n-workflow';
import type { WaitRecord } from '../api/types';

/**
 * The output of "Send and Wait for Reply". `text` and `value` are null unless an answer was accepted;
 * `messages` also has a last answer that was not accepted.
 */
export function toReply(wait: WaitRecord): IDataObject {
	const isAnswered = wait.status === 'answered';
	const { answer } = wait;
	return {
		answered: isAnswered,
		timed_out: wait.status === 'expired',
		status: wait.status,
		text: isAnswered ? (answer?.text ?? null) : null,
		value: isAnswered ? (answer?.value ?? null) : null,
		messages: answer?.messages ?? [],
		seconds_waited: answer?.seconds_waited ?? secondsOf(wait),
		conversation_id: wait.conversation_id,
		turn_id: wait.turn_id,
		wait_id: wait.id,
	};
}

/** How long the wait lasted; 0 while it is open, or if a clock was set back. */
export const secondsOf = ({ created_at: from, ended_at: to }: WaitRecord): number =>
	to ? Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000)) : 0;
