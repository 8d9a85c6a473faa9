import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestOnce } from '../../api/requestOnce';
import type { Operation } from '../operation';

export const redeliver: Operation = {
	option: {
		name: 'Redeliver',
		value: 'redeliver',
		action: 'Redeliver delivery',
		description:
			'Send a finished delivery once more; the trigger accepts it although it is a repeat',
	},
	fields: [
		subscriptionField,
		{
			displayName: 'Delivery ID',
			name: 'deliveryId',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. dlv_01JD… or evt_01JD…',
			description: 'The ID of the delivery or of its event, as "Get Deliveries" shows them',
		},
	],
	execute: async (context, itemIndex) => {
		const subscriptionId = getId(context, 'subscription', itemIndex);
		const deliveryId = getId(context, 'delivery', itemIndex);
		return await requestOnce(context, {
			method: 'POST',
			path: `/api/hooks/${subscriptionId}/deliveries/${deliveryId}/redeliver`,
			itemIndex,
		});
	},
};
