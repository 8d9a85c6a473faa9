import { withArgs } from '../../workflowTool/args';
import { toolCallField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { ToolCallRecord } from '../../api/types';
import type { Operation } from '../operation';
import { TOOL_CALL } from '../records';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get tool call',
		description: 'Get a tool call with its whole result',
	},
	record: TOOL_CALL,
	fields: [toolCallField],
	execute: async (context, itemIndex) =>
		withArgs(
			await requestService<ToolCallRecord>(context, {
				method: 'GET',
				path: `/api/tool-calls/${getId(context, 'tool call', itemIndex)}`,
				itemIndex,
			}),
		),
};
