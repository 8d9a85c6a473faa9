import { paymentLinkField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { PAYMENT_LINK } from '../records';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get payment link',
		description: 'Get a payment link with its status and URL',
	},
	record: PAYMENT_LINK,
	fields: [paymentLinkField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/payment-links/${getId(context, 'payment link', itemIndex)}`,
			itemIndex,
		}),
};
