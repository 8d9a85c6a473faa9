import { conversationField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { VERDICTS, withValues } from '../../shared/options';
import { getText } from '../../shared/text';
import { requestOnce } from '../../api/requestOnce';
import type { Operation } from '../operation';
import { CLOSED_CONVERSATION } from '../records';

export const close: Operation = {
	option: {
		name: 'Close',
		value: 'close',
		action: 'Close conversation',
		description: 'Close a conversation with a summary and a verdict',
	},
	record: CLOSED_CONVERSATION,
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
			description: withValues('Whether the conversation reached its goal', VERDICTS),
		},
	],
	execute: async (context, itemIndex) =>
		await requestOnce(context, {
			method: 'POST',
			path: `/api/conversations/${getId(context, 'conversation', itemIndex)}/close`,
			body: {
				summary: getText(context, 'summary', itemIndex, 'summary'),
				verdict: context.getNodeParameter('verdict', itemIndex) as string,
			},
			itemIndex,
		}),
};
