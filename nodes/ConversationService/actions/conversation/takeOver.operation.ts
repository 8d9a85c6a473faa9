import { conversationField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const takeOver: Operation = {
	option: {
		name: 'Take Over',
		value: 'takeOver',
		action: 'Take over a conversation',
		description: 'Take control of a conversation, so that the agent no longer answers',
	},
	fields: [conversationField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/conversations/${getId(context, 'conversationId', 'conversation', itemIndex)}/takeover`,
			itemIndex,
		}),
};
