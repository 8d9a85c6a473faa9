import type { Operation } from '../operation';
import { TOOL_CALL } from '../records';
import { decide, decisionFields } from './decide';

export const reject: Operation = {
	option: {
		name: 'Reject',
		value: 'reject',
		action: 'Reject tool call',
		description:
			'Refuse a call that waits for approval; the agent tells the customer that it was not done',
	},
	record: TOOL_CALL,
	fields: decisionFields,
	execute: async (context, itemIndex) => await decide(context, itemIndex, 'reject'),
};
