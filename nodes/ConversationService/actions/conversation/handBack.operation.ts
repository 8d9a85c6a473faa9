import { conversationField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const handBack: Operation = {
	option: {
		name: 'Hand Back',
		value: 'handBack',
		action: 'Hand a conversation back to the agent',
		description: 'Give control back to the agent',
	},
	fields: [conversationField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/conversations/${getId(context, 'conversationId', 'conversation', itemIndex)}/handback`,
			itemIndex,
		}),
};
