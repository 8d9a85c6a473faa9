import type { Operation } from '../operation';
import { TOOL_CALL } from '../records';
import { decide, decisionFields } from './decide';

export const approve: Operation = {
	option: {
		name: 'Approve',
		value: 'approve',
		action: 'Approve tool call',
		description: 'Let a call that waits for approval run',
	},
	record: TOOL_CALL,
	fields: decisionFields,
	execute: async (context, itemIndex) => await decide(context, itemIndex, 'approve'),
};
