import { withValues } from '../../shared/options';
import { requestService } from '../../api/transport';
import { EVENTS } from '../../trigger/events';
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
			displayName: 'Event',
			name: 'event',
			type: 'options',
			required: true,
			options: EVENTS,
			default: 'message.received',
			description: withValues('The event to get a sample of', EVENTS),
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
