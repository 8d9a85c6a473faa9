import type { IDataObject } from 'n8n-workflow';
import { returnAllFields } from '../../shared/fields';
import { getFilters, getLimit } from '../../api/limit';
import { TOOL_STATUSES } from '../../shared/options';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many tools',
		description: 'Get many tools of the workspace, newest first',
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
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. find_order',
					description: 'Only the tool of exactly this name',
				},
				{
					displayName: 'Status',
					name: 'status',
					type: 'options',
					options: TOOL_STATUSES,
					default: 'live',
				},
			],
		},
	],
	execute: async (context, itemIndex) =>
		await requestList<IDataObject>(context, {
			path: '/api/tools',
			query: getFilters(context, itemIndex),
			limit: getLimit(context, itemIndex),
			itemIndex,
		}),
};
