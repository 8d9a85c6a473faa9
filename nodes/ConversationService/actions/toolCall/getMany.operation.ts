import { withArgs } from '../../workflowTool/args';
import { returnAllFields } from '../../shared/fields';
import { getFilters, getLimit } from '../../api/limit';
import { TOOL_CALL_STATUSES } from '../../shared/options';
import { requestList } from '../../api/transport';
import type { ToolCallRecord } from '../../api/types';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many tool calls',
		description: 'Get many tool calls, newest first, for example those that wait for approval',
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
					displayName: 'Conversation ID',
					name: 'conversation_id',
					type: 'string',
					default: '',
					placeholder: 'e.g. conv_01JD…',
				},
				{
					displayName: 'Status',
					name: 'status',
					type: 'options',
					options: TOOL_CALL_STATUSES,
					default: 'pending_approval',
				},
				{
					displayName: 'Tool Name',
					name: 'tool',
					type: 'string',
					default: '',
					placeholder: 'e.g. find_order',
				},
			],
		},
	],
	async execute(context, itemIndex) {
		const calls = await requestList<ToolCallRecord>(context, {
			path: '/api/tool-calls',
			query: getFilters(context, itemIndex),
			limit: getLimit(context, itemIndex),
			itemIndex,
		});
		return calls.map(withArgs);
	},
};
