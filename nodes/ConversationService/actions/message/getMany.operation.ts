import { filters, returnAllFields } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { conversationField } from '../../shared/locators';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many messages',
		description: 'Get many messages of a conversation, oldest first',
	},
	fields: [
		conversationField,
		...returnAllFields,
		filters([
			{
				displayName: 'Sent Since',
				name: 'since',
				type: 'dateTime',
				default: '',
				description:
					'Only messages of this time or later. A time without an offset is in the time zone of the workflow.',
			},
		]),
	],
	execute: (context, itemIndex) =>
		listRecords(
			context,
			itemIndex,
			`/api/conversations/${getId(context, 'conversation', itemIndex)}/messages`,
		),
};
