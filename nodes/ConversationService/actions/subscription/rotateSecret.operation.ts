import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { RotatedSubscription } from '../../api/types';
import type { Operation } from '../operation';

export const rotateSecret: Operation = {
	option: {
		name: 'Rotate Secret',
		value: 'rotateSecret',
		action: 'Rotate secret of subscription',
		description:
			'Give a subscription a new signing secret. Both secrets sign for 24 hours. In that time, unpublish the workflow of the subscription and publish it again.',
	},
	fields: [
		subscriptionField,
		{
			displayName: 'Return Secret',
			name: 'returnSecret',
			type: 'boolean',
			default: false,
			description:
				'Whether to put the new secret into the output. Only a receiver outside of n8n needs it; a workflow gets its secret when it is published again. n8n stores the output with the execution.',
		},
	],
	async execute(context, itemIndex) {
		const { secret, ...rotated } = await requestService<RotatedSubscription>(context, {
			method: 'POST',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}/rotate-secret`,
			itemIndex,
		});
		return context.getNodeParameter('returnSecret', itemIndex, false)
			? { ...rotated, secret }
			: rotated;
	},
};
