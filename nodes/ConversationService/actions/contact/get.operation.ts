import { optionsField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { contactField } from '../../shared/locators';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get contact',
		description: 'Get a contact; phone number and email address are masked unless you reveal them',
	},
	fields: [
		contactField,
		optionsField([
			{
				displayName: 'Reveal Phone and Email',
				name: 'reveal',
				type: 'boolean',
				default: true,
				description:
					'Whether to add "phone" and "email" in the clear, for example for a CRM. The API key needs the permission contacts:reveal, and the service records each such call. n8n stores the output with the execution.',
			},
		]),
	],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/contacts/${getId(context, 'contact', itemIndex)}`,
			query: context.getNodeParameter('options.reveal', itemIndex, false) ? { reveal: true } : {},
			itemIndex,
		}),
};
