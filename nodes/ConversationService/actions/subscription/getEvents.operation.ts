import type { IDataObject } from 'n8n-workflow';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

export const getEvents: Operation = {
	option: {
		name: 'Get Events',
		value: 'getEvents',
		action: 'Get events',
		description: 'Get every event that can be subscribed to, with a sample of each',
	},
	fields: [],
	execute: async (context, itemIndex) =>
		await requestList<IDataObject>(context, { path: '/api/hooks/events', itemIndex }),
};
