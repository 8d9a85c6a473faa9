import type { Operation } from '../operation';
import { decide, decisionFields } from './decide';

export const reject: Operation = {
	option: {
		name: 'Reject',
		value: 'reject',
		action: 'Reject a tool call',
		description:
			'Refuse a call that waits for approval; the agent tells the customer that it was not done',
	},
	fields: decisionFields,
	execute: async (context, itemIndex) => await decide(context, itemIndex, 'reject'),
};
