import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestOnce } from '../../api/requestOnce';
import type { Operation } from '../operation';

export const deleteSubscription: Operation = {
	option: {
		name: 'Delete',
		value: 'delete',
		action: 'Delete subscription',
		description: 'Remove the subscription, so that its address gets no more events',
	},
	fields: [subscriptionField],
	execute: async (context, itemIndex) =>
		await requestOnce(context, {
			method: 'DELETE',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}`,
			itemIndex,
		}),
};
