import type { IDataObject } from 'n8n-workflow';
import { returnAllFields, subscriptionField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { getLimit } from '../../api/limit';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

export const getDeliveries: Operation = {
	option: {
		name: 'Get Deliveries',
		value: 'getDeliveries',
		action: 'Get the deliveries of a subscription',
		description: 'Get what was sent to a subscription, with every attempt and its error',
	},
	fields: [subscriptionField, ...returnAllFields],
	execute: async (context, itemIndex) =>
		await requestList<IDataObject>(context, {
			path: `/api/hooks/${getId(context, 'subscriptionId', 'subscription', itemIndex)}/deliveries`,
			limit: getLimit(context, itemIndex),
			itemIndex,
		}),
};
