import { filters, returnAllFields } from '../../shared/fields';
import { TOOL_STATUSES, withValues } from '../../shared/options';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';
import { TOOL } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many tools',
		description: 'Get many tools of the workspace, newest first',
	},
	record: TOOL,
	fields: [
		...returnAllFields,
		filters([
			{
				displayName: 'Name',
				name: 'name',
				type: 'string',
				default: '',
				placeholder: 'e.g. find_order',
				description: 'Only the tool of exactly this name',
			},
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				options: TOOL_STATUSES,
				default: 'live',
				description: withValues('Only tools with this status', TOOL_STATUSES),
			},
		]),
	],
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/tools'),
};
