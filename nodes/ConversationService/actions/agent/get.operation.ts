import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get agent',
		description: 'Get the settings of the agent, and whether it is on',
	},
	fields: [],
	execute: async (context, itemIndex) =>
		await requestService(context, { method: 'GET', path: '/api/agent', itemIndex }),
};
