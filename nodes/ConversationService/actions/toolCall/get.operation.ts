import { withArgs } from '../../workflowTool/args';
import { toolCallField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { ToolCallRecord } from '../../api/types';
import type { Operation } from '../operation';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get a tool call',
		description: 'Get a tool call with its whole result',
	},
	fields: [toolCallField],
	execute: async (context, itemIndex) =>
		withArgs(
			await requestService<ToolCallRecord>(context, {
				method: 'GET',
				path: `/api/tool-calls/${getId(context, 'toolCallId', 'tool call', itemIndex)}`,
				itemIndex,
			}),
		),
};
