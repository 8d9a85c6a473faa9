import { returnAllFields } from '../../shared/fields';
import { CHANNELS, FUNNEL_STAGES, STATUSES, withValues } from '../../shared/options';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';
import { CONVERSATION } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many conversations',
		description: 'Get many conversations, newest first',
	},
	record: CONVERSATION,
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
					description: withValues('Only conversations on this channel', CHANNELS),
				},
				{
					displayName: 'Funnel Stage',
					name: 'funnel_stage',
					type: 'options',
					options: FUNNEL_STAGES,
					default: 'qualified',
					description: withValues('Only conversations at this stage', FUNNEL_STAGES),
				},
				{
					displayName: 'Status',
					name: 'status',
					type: 'options',
					options: STATUSES,
					default: 'ai_active',
					description: withValues('Only conversations with this status', STATUSES),
				},
			],
		},
	],
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/conversations'),
};
