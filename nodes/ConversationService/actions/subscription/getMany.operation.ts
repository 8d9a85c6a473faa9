import { returnAllFields } from '../../shared/fields';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';
import { SUBSCRIPTION } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many subscriptions',
		description: 'Get many subscriptions of the workspace, including whether they are failing',
	},
	record: SUBSCRIPTION,
	fields: returnAllFields,
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/hooks'),
};
