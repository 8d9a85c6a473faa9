import { paymentLinkField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { PAYMENT_LINK } from '../records';

export const cancel: Operation = {
	option: {
		name: 'Cancel',
		value: 'cancel',
		action: 'Cancel payment link',
		description: 'Cancel a payment link that is not paid yet: it can no longer be paid',
	},
	record: PAYMENT_LINK,
	fields: [paymentLinkField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/payment-links/${getId(context, 'payment link', itemIndex)}/cancel`,
			itemIndex,
		}),
};
