import type { IDataObject } from 'n8n-workflow';
import { returnAllFields } from '../../shared/fields';
import { getLimit } from '../../api/limit';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many subscriptions',
		description: 'Get many subscriptions of the workspace, including whether they are failing',
	},
	fields: [...returnAllFields],
	execute: async (context, itemIndex) =>
		await requestList<IDataObject>(context, {
			path: '/api/hooks',
			limit: getLimit(context, itemIndex),
			itemIndex,
		}),
};
