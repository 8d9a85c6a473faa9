import { toolField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { readJsonObject } from '../../shared/jsonFields';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { TOOL } from '../records';

export const goLive: Operation = {
	option: {
		name: 'Go Live',
		value: 'goLive',
		action: 'Go live with tool',
		description: 'Let the agent use a tool, after a test call if no test has succeeded yet',
	},
	record: TOOL,
	fields: [
		toolField,
		{
			displayName: 'Sample Arguments',
			name: 'sampleArguments',
			type: 'json',
			default: '',
			placeholder: 'e.g. {"order_number": "A-1042"}',
			description:
				'The arguments of the test call, which is made after this node has run. Tool → Get shows how it ended. Needed only when no test has succeeded yet.',
		},
	],
	async execute(context, itemIndex) {
		const id = getId(context, 'tool', itemIndex);
		const sample = readJsonObject(context, 'sampleArguments', 'Sample Arguments', itemIndex);
		return await requestService(context, {
			method: 'POST',
			path: `/api/tools/${id}/go-live`,
			body: sample ? { arguments: sample } : {},
			itemIndex,
		});
	},
};
