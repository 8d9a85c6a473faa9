import { toolField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get a tool',
		description: 'Get a tool with its status; last_test says how its newest test call ended',
	},
	fields: [toolField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/tools/${getId(context, 'toolId', 'tool', itemIndex)}`,
			itemIndex,
		}),
};
