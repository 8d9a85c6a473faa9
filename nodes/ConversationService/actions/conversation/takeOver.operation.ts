import { conversationField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { CONVERSATION } from '../records';

export const takeOver: Operation = {
	option: {
		name: 'Take Over',
		value: 'takeOver',
		action: 'Take over conversation',
		description: 'Take control of a conversation, so that the agent no longer answers',
	},
	record: CONVERSATION,
	fields: [conversationField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/conversations/${getId(context, 'conversation', itemIndex)}/takeover`,
			itemIndex,
		}),
};
