import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const sendTestEvent: Operation = {
	option: {
		name: 'Send Test Event',
		value: 'sendTestEvent',
		action: 'Send test event to subscription',
		description: 'Send a signed sample of its first event to a subscription',
	},
	fields: [subscriptionField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}/test`,
			itemIndex,
		}),
};
