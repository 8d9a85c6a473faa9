import { filters, returnAllFields } from '../../shared/fields';
import { conversationFilter } from '../../shared/locators';
import { PAYMENT_STATUSES, withValues } from '../../shared/options';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';
import { PAYMENT_LINK } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many payment links',
		description: 'Get many payment links, newest first',
	},
	record: PAYMENT_LINK,
	fields: [
		...returnAllFields,
		filters([
			conversationFilter,
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				options: PAYMENT_STATUSES,
				default: 'open',
				description: withValues('Only links with this status', PAYMENT_STATUSES),
			},
		]),
	],
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/payment-links'),
};
