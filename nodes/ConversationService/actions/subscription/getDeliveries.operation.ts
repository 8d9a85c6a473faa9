import { returnAllFields } from '../../shared/fields';
import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';

export const getDeliveries: Operation = {
	option: {
		name: 'Get Deliveries',
		value: 'getDeliveries',
		action: 'Get deliveries of subscription',
		description: 'Get what was sent to a subscription, with every attempt and its error',
	},
	fields: [subscriptionField, ...returnAllFields],
	execute: (context, itemIndex) =>
		listRecords(
			context,
			itemIndex,
			`/api/hooks/${getId(context, 'subscription', itemIndex)}/deliveries`,
		),
};
