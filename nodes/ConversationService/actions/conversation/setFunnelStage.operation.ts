import { conversationField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { FUNNEL_STAGES } from '../../shared/options';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const setFunnelStage: Operation = {
	option: {
		name: 'Set Funnel Stage',
		value: 'setFunnelStage',
		action: 'Set the funnel stage of a conversation',
		description: 'Move a conversation along the funnel, for example to Qualified',
	},
	fields: [
		conversationField,
		{
			displayName: 'Funnel Stage',
			name: 'funnelStage',
			type: 'options',
			options: FUNNEL_STAGES,
			default: 'qualified',
			description: 'The first time at Qualified or beyond, conversation.qualified is sent',
		},
	],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'PATCH',
			path: `/api/conversations/${getId(context, 'conversationId', 'conversation', itemIndex)}`,
			body: { funnel_stage: context.getNodeParameter('funnelStage', itemIndex) as string },
			itemIndex,
		}),
};
