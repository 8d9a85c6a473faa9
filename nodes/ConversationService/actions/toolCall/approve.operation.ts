import type { Operation } from '../operation';
import { decide, decisionFields } from './decide';

export const approve: Operation = {
	option: {
		name: 'Approve',
		value: 'approve',
		action: 'Approve a tool call',
		description: 'Let a call that waits for approval run',
	},
	fields: decisionFields,
	execute: async (context, itemIndex) => await decide(context, itemIndex, 'approve'),
};
