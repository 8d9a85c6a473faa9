import type { IDataObject, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { errorCode } from '../../api/errors';
import { HINT_IF_NOT_FOUND, lookupFields, readLookup } from '../../shared/lookup';
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
	fields: lookupFields,
	async execute(context, itemIndex) {
		const body = readLookup(context, itemIndex);
		try {
			return await requestService<IDataObject>(context, {
				method: 'POST',
				path: '/api/contacts/lookup',
				body,
				itemIndex,
			});
		} catch (error) {
			const failure = new NodeApiError(context.getNode(), error as JsonObject, { itemIndex });
			if (errorCode(failure) !== 'not_found') throw failure;
			if (context.getNodeParameter('ifNotFound', itemIndex) === 'empty') return [];
			failure.description = HINT_IF_NOT_FOUND;
			throw failure;
		}
	},
};
