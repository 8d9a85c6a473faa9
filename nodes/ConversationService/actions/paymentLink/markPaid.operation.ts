import { paymentLinkField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import { findText } from '../../shared/text';
import type { Operation } from '../operation';
import { PAYMENT_LINK } from '../records';

export const markPaid: Operation = {
	option: {
		name: 'Mark as Paid',
		value: 'markPaid',
		action: 'Mark payment link as paid',
		description:
			'Mark a manual payment link as paid when you have the money; payment.paid is sent only once',
	},
	record: PAYMENT_LINK,
	fields: [
		paymentLinkField,
		{
			displayName: 'Reference',
			name: 'reference',
			type: 'string',
			default: '',
			placeholder: 'e.g. Transfer 2026-1182',
			description: 'How to find the payment later, up to 200 characters',
		},
	],
	async execute(context, itemIndex) {
		const id = getId(context, 'payment link', itemIndex);
		const reference = findText(context, 'reference', itemIndex)?.trim();
		return await requestService(context, {
			method: 'POST',
			path: `/api/payment-links/${id}/mark-paid`,
			body: reference ? { reference } : {},
			itemIndex,
		});
	},
};
