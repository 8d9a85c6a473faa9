import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const getSample: Operation = {
	option: {
		name: 'Get Sample',
		value: 'getSample',
		action: 'Get sample of event',
		description: 'Get a payload with the exact field names of an event',
	},
	fields: [
		{
			displayName: 'Event Name or ID',
			name: 'event',
			type: 'options',
			required: true,
			typeOptions: { loadOptionsMethod: 'getEvents' },
			default: 'message.received',
			description:
				'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		},
	],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: '/api/hooks/sample',
			query: { event: context.getNodeParameter('event', itemIndex) as string },
			itemIndex,
		}),
};
