import type { IDataObject } from 'n8n-workflow';
import { returnAllFields } from '../../shared/fields';
import { getFilters, getLimit } from '../../api/limit';
import { PAYMENT_STATUSES } from '../../shared/options';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many payment links',
		description: 'Get many payment links, newest first',
	},
	fields: [
		...returnAllFields,
		{
			displayName: 'Filters',
			name: 'filters',
			type: 'collection',
			placeholder: 'Add Filter',
			default: {},
			options: [
				{
					displayName: 'Conversation ID',
					name: 'conversation_id',
					type: 'string',
					default: '',
					placeholder: 'e.g. conv_01JD…',
				},
				{
					displayName: 'Status',
					name: 'status',
					type: 'options',
					options: PAYMENT_STATUSES,
					default: 'open',
				},
			],
		},
	],
	execute: async (context, itemIndex) =>
		await requestList<IDataObject>(context, {
			path: '/api/payment-links',
			query: getFilters(context, itemIndex),
			limit: getLimit(context, itemIndex),
			itemIndex,
		}),
};
