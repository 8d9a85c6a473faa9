import { conversationField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { VERDICTS } from '../../shared/options';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const close: Operation = {
	option: {
		name: 'Close',
		value: 'close',
		action: 'Close a conversation',
		description: 'Close a conversation with a summary and a verdict',
	},
	fields: [
		conversationField,
		{
			displayName: 'Summary',
			name: 'summary',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. Wants the annual plan, asked for an invoice',
			description: 'How the conversation ended, up to 4,000 characters',
		},
		{
			displayName: 'Verdict',
			name: 'verdict',
			type: 'options',
			options: VERDICTS,
			default: 'goal_reached',
			description: 'Whether the conversation reached its goal',
		},
	],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/conversations/${getId(context, 'conversationId', 'conversation', itemIndex)}/close`,
			body: {
				summary: context.getNodeParameter('summary', itemIndex) as string,
				verdict: context.getNodeParameter('verdict', itemIndex) as string,
			},
			itemIndex,
		}),
};
