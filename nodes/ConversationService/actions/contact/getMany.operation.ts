import { filters, returnAllFields } from '../../shared/fields';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many contacts',
		description: 'Get many contacts, newest first',
	},
	fields: [
		...returnAllFields,
		filters([
			{
				displayName: 'Text',
				name: 'q',
				type: 'string',
				default: '',
				placeholder: 'e.g. Maria',
				description:
					'A part of the name, or a whole phone number with its country code, or a whole email address',
			},
		]),
	],
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/contacts'),
};
