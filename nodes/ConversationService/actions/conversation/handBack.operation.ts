import { conversationField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { CONVERSATION } from '../records';

export const handBack: Operation = {
	option: {
		name: 'Hand Back',
		value: 'handBack',
		action: 'Hand conversation back to agent',
		description: 'Give control back to the agent',
	},
	record: CONVERSATION,
	fields: [conversationField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/conversations/${getId(context, 'conversation', itemIndex)}/handback`,
			itemIndex,
		}),
};
