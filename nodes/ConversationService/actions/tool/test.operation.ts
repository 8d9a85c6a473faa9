import { withArgs } from '../../workflowTool/args';
import { toolField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { readJsonObject } from '../../shared/jsonFields';
import { requestService, TEST_CALL_TIMEOUT_MS } from '../../api/transport';
import type { ToolCallRecord } from '../../api/types';
import type { Operation } from '../operation';
import { TOOL_CALL } from '../records';

export const test: Operation = {
	option: {
		name: 'Test',
		value: 'test',
		action: 'Test tool',
		description:
			'Make one real call of a tool and get its outcome; a call that failed is an item with the status failed',
	},
	record: TOOL_CALL,
	fields: [
		toolField,
		{
			displayName: 'Arguments',
			name: 'arguments',
			type: 'json',
			default: '{}',
			placeholder: 'e.g. {"order_number": "A-1042"}',
			description: 'The arguments of the call, which must match the parameters of the tool',
		},
	],
	async execute(context, itemIndex) {
		const id = getId(context, 'tool', itemIndex);
		const call: ToolCallRecord = await requestService(context, {
			method: 'POST',
			path: `/api/tools/${id}/test`,
			body: { arguments: readJsonObject(context, 'arguments', 'Arguments', itemIndex) ?? {} },
			timeoutMs: TEST_CALL_TIMEOUT_MS,
			itemIndex,
		});
		return withArgs(call);
	},
};
