import { filters, returnAllFields } from '../../shared/fields';
import { conversationFilter } from '../../shared/locators';
import { TURN_STATUSES, withValues } from '../../shared/options';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';
import { AGENT_TURN } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many agent turns',
		description: 'Get many agent turns, newest first, and how they ended',
	},
	record: AGENT_TURN,
	fields: [
		...returnAllFields,
		filters([
			conversationFilter,
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				options: TURN_STATUSES,
				default: 'failed',
				description: withValues('Only turns with this status', TURN_STATUSES),
			},
		]),
	],
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/agent-turns'),
};
