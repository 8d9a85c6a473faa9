import { NodeOperationError } from 'n8n-workflow';
import { subscriptionField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { toInstant } from '../../shared/instant';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const recover: Operation = {
	option: {
		name: 'Recover',
		value: 'recover',
		action: 'Recover the failed deliveries of a subscription',
		description: 'Send again all deliveries that failed since a time',
	},
	fields: [
		subscriptionField,
		{
			displayName: 'Since',
			name: 'since',
			type: 'dateTime',
			required: true,
			default: '',
			description:
				'Includes deliveries that failed at this time or later; their events may be older. A time without an offset is in the time zone of the workflow.',
		},
	],
	async execute(context, itemIndex) {
		const id = getId(context, 'subscriptionId', 'subscription', itemIndex);
		const value = String(context.getNodeParameter('since', itemIndex) ?? '').trim();
		const since = toInstant(value, context.getTimezone());
		if (!since) {
			throw new NodeOperationError(context.getNode(), `"${value}" is not a date and time`, {
				itemIndex,
				description:
					'Choose one, or set an expression such as {{ $now.minus({ hours: 1 }) }} in "Since".',
			});
		}
		return await requestService(context, {
			method: 'POST',
			path: `/api/hooks/${id}/recover`,
			body: { since },
			itemIndex,
		});
	},
};
