import type { IDataObject, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { errorCode } from '../../api/errors';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { CONVERSATION } from '../records';

export const findByContact: Operation = {
	option: {
		name: 'Find by Contact',
		value: 'findByContact',
		action: 'Find conversation by contact',
		description: 'Find the conversation of the contact with a phone number or an email address',
	},
	record: CONVERSATION,
	fields: [
		{
			displayName: 'Find By',
			name: 'findBy',
			type: 'options',
			noDataExpression: true,
			options: [
				{ name: 'Email', value: 'email' },
				{ name: 'Phone', value: 'phone' },
			],
			default: 'email',
		},
		{
			displayName: 'Email',
			name: 'email',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'name@email.com',
			displayOptions: { show: { findBy: ['email'] } },
		},
		{
			displayName: 'Phone',
			name: 'phone',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. +49 170 1234567',
			description: 'The number with its country code',
			displayOptions: { show: { findBy: ['phone'] } },
		},
		{
			displayName: 'If Not Found',
			name: 'ifNotFound',
			type: 'options',
			options: [
				{
					name: 'Return Nothing',
					value: 'empty',
					description:
						'There is no output item for this contact. With "Always Output Data" in the settings, there is an empty one.',
				},
				{ name: 'Throw an Error', value: 'error' },
			],
			default: 'error',
			description: 'What to do when no conversation of this contact exists',
		},
	],
	async execute(context, itemIndex) {
		const findBy = context.getNodeParameter('findBy', itemIndex) as 'email' | 'phone';
		const contact = String(context.getNodeParameter(findBy, itemIndex) ?? '').trim();
		try {
			return await requestService<IDataObject>(context, {
				method: 'POST',
				path: '/api/contacts/lookup',
				body: { [findBy]: contact },
				itemIndex,
			});
		} catch (error) {
			const failure = new NodeApiError(context.getNode(), error as JsonObject, { itemIndex });
			if (errorCode(failure) !== 'not_found') throw failure;
			if (context.getNodeParameter('ifNotFound', itemIndex) === 'empty') return [];
			failure.description =
				'Nobody with this contact has written yet, or the spelling differs. Set "If Not Found" to "Return Nothing" if that is fine.';
			throw failure;
		}
	},
};
