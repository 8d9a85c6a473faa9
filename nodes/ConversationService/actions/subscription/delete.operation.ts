import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestOnce } from '../../api/requestOnce';
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
		await requestOnce(context, {
			method: 'DELETE',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}`,
			itemIndex,
		}),
};
