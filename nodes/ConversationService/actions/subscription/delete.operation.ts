import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const deleteSubscription: Operation = {
	option: {
		name: 'Delete',
		value: 'delete',
		action: 'Delete subscription',
		description: 'Stop sending its events to its address',
	},
	fields: [subscriptionField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'DELETE',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}`,
			itemIndex,
		}),
};
