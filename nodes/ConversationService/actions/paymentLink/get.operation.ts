import { paymentLinkField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get a payment link',
		description: 'Get a payment link with its status and URL',
	},
	fields: [paymentLinkField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/payment-links/${getId(context, 'paymentLinkId', 'payment link', itemIndex)}`,
			itemIndex,
		}),
};
