import type { INodeProperties, INodePropertyMode } from 'n8n-workflow';

/** The path of a conversation's page in the service. */
const CONVERSATION_PAGE = '/conversations/(conv_[0-9A-Za-z]+)';

/** Inside `modes`, since n8n's lint rule asks for a default of anything that looks like a field. */
const BY_CONVERSATION_URL: Pick<INodeProperties, 'modes'> = {
	modes: [
		{
			displayName: 'By URL',
			name: 'url',
			type: 'string',
			placeholder: 'e.g. https://conversations.example.com/conversations/conv_01JD…',
			extractValue: { type: 'regex', regex: `.*${CONVERSATION_PAGE}` },
			validation: [
				{
					type: 'regex',
					properties: {
						regex: `.*${CONVERSATION_PAGE}.*`,
						errorMessage:
							'Copy the address of the conversation’s page, which ends in /conversations/conv_…',
					},
				},
			],
		},
	],
};

/**
 * The conversation that an operation works on. The default suits a node after any of the triggers,
 * and after an action that returns a conversation.
 */
export const conversationField: INodeProperties = {
	displayName: 'Conversation',
	name: 'conversationId',
	type: 'resourceLocator',
	required: true,
	default: {
		mode: 'list',
		value: '={{ $json.conversation?.id ?? $json.conversation_id ?? $json.id }}',
	},
	description:
		'The conversation to work on. The default takes it from the item: after a trigger of Conversation Service, or after an action that returns a conversation.',
	...modes(
		{ placeholder: 'Choose a conversation…', searchListMethod: 'searchConversations' },
		'conv',
		BY_CONVERSATION_URL.modes,
	),
};

/** The filter of a "Get Many" by conversation. */
export const conversationFilter: INodeProperties = {
	...conversationField,
	name: 'conversation_id',
	required: false,
	default: { mode: 'list', value: '' },
	description: 'Only those of this conversation',
};

/**
 * The contact that an operation works on. The default suits a node after an action that returns a
 * contact or a conversation; an event has no contact id.
 */
export const contactField: INodeProperties = {
	displayName: 'Contact',
	name: 'contactId',
	type: 'resourceLocator',
	required: true,
	default: {
		mode: 'list',
		value: '={{ $json.contact?.id ?? $json.contact_id ?? $json.id }}',
	},
	description:
		'The contact to work on. The default takes it from the item: after Conversation → Get, Find by Contact or Get Many, or after Contact → Find or Get Many.',
	...modes({ placeholder: 'Choose a contact…', searchListMethod: 'searchContacts' }, 'ctc'),
};

export const contactFilter: INodeProperties = {
	...contactField,
	name: 'contact_id',
	required: false,
	default: { mode: 'list', value: '' },
	description: 'Only those with this contact',
};

export const subscriptionField: INodeProperties = {
	displayName: 'Subscription',
	name: 'subscriptionId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '' },
	description: 'The subscription to work on',
	...modes(
		{ placeholder: 'Choose a subscription…', searchListMethod: 'searchSubscriptions' },
		'sub',
	),
};

export const toolField: INodeProperties = {
	displayName: 'Tool',
	name: 'toolId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '' },
	description: 'The tool to work on',
	...modes({ placeholder: 'Choose a tool…', searchListMethod: 'searchTools' }, 'tool'),
};

/** The call that an operation works on. The default suits a node after a trigger or "Get Many". */
export const toolCallField: INodeProperties = {
	displayName: 'Tool Call',
	name: 'toolCallId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '={{ $json.tool_call_id }}' },
	description:
		'The tool call to work on. The default takes it from the item: after Tool Call → Get Many, or after the trigger of a tool.',
	...modes(
		{
			placeholder: 'Choose a call that waits for approval…',
			searchListMethod: 'searchPendingToolCalls',
		},
		'call',
	),
};

/**
 * The payment link that an operation works on. The default suits a node after "Create" or after the
 * event payment.paid.
 */
export const paymentLinkField: INodeProperties = {
	displayName: 'Payment Link',
	name: 'paymentLinkId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '={{ $json.payment?.id ?? $json.id }}' },
	description:
		'The payment link to work on. The default takes it from the item: after Payment Link → Create or Get Many, or after the event Payment Paid.',
	...modes(
		{ placeholder: 'Choose a payment link…', searchListMethod: 'searchPaymentLinks' },
		'pay',
	),
};

/** The ways to choose: from a list first, by ID last. */
function modes(
	list: { placeholder: string; searchListMethod: string },
	prefix: string,
	others: INodePropertyMode[] = [],
): Pick<INodeProperties, 'modes'> {
	const { placeholder, searchListMethod } = list;
	return {
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder,
				typeOptions: { searchListMethod, searchable: true },
			},
			...others,
			{
				displayName: 'By ID',
				name: 'id',
				type: 'string',
				placeholder: `e.g. ${prefix}_01JD…`,
			},
		],
	};
}
