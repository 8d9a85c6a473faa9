import { conversationField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { FUNNEL_STAGES, withValues } from '../../shared/options';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { CONVERSATION } from '../records';

export const setFunnelStage: Operation = {
	option: {
		name: 'Set Funnel Stage',
		value: 'setFunnelStage',
		action: 'Set funnel stage of conversation',
		description: 'Move a conversation along the funnel, for example to Qualified',
	},
	record: CONVERSATION,
	fields: [
		conversationField,
		{
			displayName: 'Funnel Stage',
			name: 'funnelStage',
			type: 'options',
			options: FUNNEL_STAGES,
			default: 'qualified',
			description: withValues(
				'How far the customer has come. Reaching Qualified or beyond for the first time sends the event Conversation Qualified',
				FUNNEL_STAGES,
			),
		},
	],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'PATCH',
			path: `/api/conversations/${getId(context, 'conversation', itemIndex)}`,
			body: { funnel_stage: context.getNodeParameter('funnelStage', itemIndex) as string },
			itemIndex,
		}),
};
