import type { IDataObject } from 'n8n-workflow';
import type { WaitRecord } from '../api/types';
import { secondsOf } from './replyOutput';

/** What a language model reads when nobody decided. */
const NOT_DECIDED: Record<string, string> = {
	expired: 'Nobody decided in time, so this was not approved and nothing was done.',
	cancelled: 'The request was withdrawn before anybody decided, so nothing was done.',
	closed: 'The conversation was closed before anybody decided, so nothing was done.',
	taken_over: 'A person took over the conversation before anybody decided, so nothing was done.',
};

/**
 * The output of "Ask and Wait", in the shape that n8n expects of a human review: only
 * `approved: true` lets a tool run; otherwise, the model reads `chatInput`.
 */
export function toDecision(wait: WaitRecord): IDataObject {
	const { status, decision } = wait;
	const approved = status === 'approved' && decision?.approved === true;
	const note = decision?.note ?? null;
	// Not the note alone: a model could read "Fine, but ask me first" as an approval.
	const chatInput = note === null || approved ? NOT_DECIDED[status] : `Rejected: ${note}`;
	return {
		data: {
			approved,
			status,
			timed_out: status === 'expired',
			note,
			decided_by: decision?.by.name ?? null,
			decided_at: decision?.at ?? null,
			...(chatInput ? { chatInput } : {}),
			seconds_waited: secondsOf(wait),
		},
		// The defaults of later nodes read these.
		conversation_id: wait.conversation_id,
		turn_id: wait.turn_id,
		wait_id: wait.id,
	};
}
