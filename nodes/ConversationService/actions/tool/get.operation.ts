import { toolField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { TOOL } from '../records';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get tool',
		description: 'Get a tool with its status; last_test says how its newest test call ended',
	},
	record: TOOL,
	fields: [toolField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/tools/${getId(context, 'tool', itemIndex)}`,
			itemIndex,
		}),
};
