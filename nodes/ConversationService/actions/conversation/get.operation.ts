import { optionsField } from '../../shared/fields';
import { conversationField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { CONVERSATION_WITH_MESSAGES } from '../records';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get conversation',
		description: 'Get a conversation with its newest messages',
	},
	record: CONVERSATION_WITH_MESSAGES,
	fields: [
		conversationField,
		optionsField([
			{
				displayName: 'Messages',
				name: 'messages',
				type: 'number',
				typeOptions: { minValue: 0, maxValue: 200 },
				default: 50,
				description: 'How many of the newest messages to return, up to 200',
			},
		]),
	],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/conversations/${getId(context, 'conversation', itemIndex)}`,
			query: { messages: context.getNodeParameter('options.messages', itemIndex, 50) as number },
			itemIndex,
		}),
};
