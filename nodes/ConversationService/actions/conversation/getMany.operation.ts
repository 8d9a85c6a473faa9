import type { IDataObject } from 'n8n-workflow';
import { returnAllFields } from '../../shared/fields';
import { getLimit } from '../../api/limit';
import { CHANNELS, FUNNEL_STAGES, STATUSES } from '../../shared/options';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many conversations',
		description: 'Get many conversations, newest first',
	},
	fields: [
		...returnAllFields,
		{
			displayName: 'Filters',
			name: 'filters',
			type: 'collection',
			placeholder: 'Add Filter',
			default: {},
			options: [
				{
					displayName: 'Channel',
					name: 'channel',
					type: 'options',
					options: CHANNELS,
					default: 'web_chat',
				},
				{
					displayName: 'Funnel Stage',
					name: 'funnel_stage',
					type: 'options',
					options: FUNNEL_STAGES,
					default: 'qualified',
				},
				{
					displayName: 'Status',
					name: 'status',
					type: 'options',
					options: STATUSES,
					default: 'ai_active',
				},
			],
		},
	],
	execute: async (context, itemIndex) =>
		await requestList<IDataObject>(context, {
			path: '/api/conversations',
			query: context.getNodeParameter('filters', itemIndex, {}) as IDataObject,
			limit: getLimit(context, itemIndex),
			itemIndex,
		}),
};
