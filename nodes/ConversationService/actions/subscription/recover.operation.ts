import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { readInstant } from '../../shared/instant';
import { requestOnce } from '../../api/requestOnce';
import type { Operation } from '../operation';

export const recover: Operation = {
	option: {
		name: 'Recover',
		value: 'recover',
		action: 'Recover failed deliveries of subscription',
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
		const id = getId(context, 'subscription', itemIndex);
		const since = readInstant(context, context.getNodeParameter('since', itemIndex), itemIndex);
		return await requestOnce(context, {
			method: 'POST',
			path: `/api/hooks/${id}/recover`,
			body: { since },
			itemIndex,
		});
	},
};
