import { withArgs } from '../../workflowTool/args';
import { filters, returnAllFields } from '../../shared/fields';
import { conversationFilter } from '../../shared/locators';
import { TOOL_CALL_STATUSES, withValues } from '../../shared/options';
import { listRecords } from '../listRecords';
import type { ToolCallRecord } from '../../api/types';
import type { Operation } from '../operation';
import { TOOL_CALL } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many tool calls',
		description: 'Get many tool calls, newest first, for example those that wait for approval',
	},
	record: TOOL_CALL,
	fields: [
		...returnAllFields,
		filters([
			conversationFilter,
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				options: TOOL_CALL_STATUSES,
				default: 'pending_approval',
				description: withValues('Only calls with this status', TOOL_CALL_STATUSES),
			},
			{
				displayName: 'Tool Name',
				name: 'tool',
				type: 'string',
				default: '',
				placeholder: 'e.g. find_order',
				description: 'Only calls of the tool with exactly this name',
			},
		]),
	],
	async *execute(context, itemIndex) {
		const calls = listRecords<ToolCallRecord>(context, itemIndex, '/api/tool-calls');
		for await (const call of calls) yield withArgs(call);
	},
};
