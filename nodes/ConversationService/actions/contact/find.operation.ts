import type { IDataObject } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { HINT_IF_NOT_FOUND, lookupFields, readLookup } from '../../shared/lookup';
import { requestList } from '../../api/transport';
import type { Operation } from '../operation';

/** How many contacts with the same details are looked through for a verified one. */
const MAX_COMPARED = 50;

/** Prefers a verified contact: in the web chat, several can claim the same email address. */
export const find: Operation = {
	option: {
		name: 'Find',
		value: 'find',
		action: 'Find contact',
		description: 'Find the contact with a phone number or an email address',
	},
	fields: lookupFields,
	async execute(context, itemIndex) {
		const lookup = readLookup(context, itemIndex);
		const contacts = await requestList<IDataObject>(context, {
			path: '/api/contacts',
			query: { q: 'email' in lookup ? lookup.email : lookup.phone },
			limit: MAX_COMPARED,
			itemIndex,
		});
		const found = contacts.find(({ verified }) => verified) ?? contacts[0];
		if (found) return found;
		if (context.getNodeParameter('ifNotFound', itemIndex) === 'empty') return [];
		throw new NodeOperationError(context.getNode(), 'There is no contact with these details', {
			itemIndex,
			description: HINT_IF_NOT_FOUND,
		});
	},
};
