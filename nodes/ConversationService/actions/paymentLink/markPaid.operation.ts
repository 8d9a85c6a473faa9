import { paymentLinkField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const markPaid: Operation = {
	option: {
		name: 'Mark as Paid',
		value: 'markPaid',
		action: 'Mark a payment link as paid',
		description:
			'Mark a manual payment link as paid, for money that has reached you; payment.paid is sent once',
	},
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
		const id = getId(context, 'paymentLinkId', 'payment link', itemIndex);
		const reference = String(context.getNodeParameter('reference', itemIndex, '') ?? '').trim();
		return await requestService(context, {
			method: 'POST',
			path: `/api/payment-links/${id}/mark-paid`,
			body: reference ? { reference } : {},
			itemIndex,
		});
	},
};
