import { getId } from '../../shared/ids';
import { conversationField } from '../../shared/locators';
import { deduplicationKeyField, optionsField } from '../../shared/fields';
import { requestOnce } from '../../api/requestOnce';
import { getText } from '../../shared/text';
import type { Operation } from '../operation';

export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		action: 'Create note',
		description: 'Create a note in a conversation for your team; the customer never sees it',
	},
	fields: [
		conversationField,
		{
			displayName: 'Text',
			name: 'text',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. Has an open invoice, see the CRM',
			description: 'What your team reads in the conversation, up to 4,000 characters',
		},
		optionsField([
			deduplicationKeyField(
				'With the same key, this node writes a note in a conversation only once within 24 hours, even when the execution is started again. Set it from the ID of the event. Left empty, "Retry On Fail" is still safe.',
			),
		]),
	],
	async execute(context, itemIndex) {
		const conversationId = getId(context, 'conversation', itemIndex);
		const text = getText(context, 'text', itemIndex, 'text of the note');
		return await requestOnce(context, {
			method: 'POST',
			path: `/api/conversations/${conversationId}/notes`,
			body: { text },
			itemIndex,
		});
	},
};
