import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** What a contact is found by, and what to do when there is none. */
export const lookupFields: INodeProperties[] = [
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
		description: 'What to do when there is none: return nothing (empty) or fail (error)',
	},
];

export const HINT_IF_NOT_FOUND =
	'No contact has this email address or phone number, or it is spelled differently. Set "If Not Found" to "Return Nothing" if that is fine.';

/**
 * Reads what to find a contact by.
 * @throws NodeOperationError when the text is not a whole email address or phone number
 */
export function readLookup(
	context: IExecuteFunctions,
	itemIndex: number,
): { email: string } | { phone: string } {
	const findBy = context.getNodeParameter('findBy', itemIndex) as 'email' | 'phone';
	const text = String(context.getNodeParameter(findBy, itemIndex) ?? '').trim();
	if (findBy === 'email' && /^[^\s@•]+@[^\s@•]+$/.test(text)) return { email: text };
	// As the service reads it: with dashes of any kind, and invisible characters of an address book.
	const phone = text.replace(/\p{Cf}/gu, '');
	if (findBy === 'phone' && /^(?=(.*\d){6})[+\d\s()./\p{Pd}]+$/u.test(phone)) return { phone };
	const what = findBy === 'email' ? 'email address' : 'phone number';
	throw new NodeOperationError(
		context.getNode(),
		text ? `"${text}" is not a whole ${what}` : `The ${what} is empty`,
		{
			itemIndex,
			description:
				'Enter the whole email address, or the phone number with its country code. The masked ones (•) that this node returns cannot be looked up.',
		},
	);
}
