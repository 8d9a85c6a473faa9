import type { INodeProperties } from 'n8n-workflow';

/** The conversation that an operation works on. The default suits a node right after the trigger. */
export const conversationField: INodeProperties = {
	displayName: 'Conversation',
	name: 'conversationId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'id', value: '={{ $json.conversation.id }}' },
	description:
		'The conversation to work on. The default takes it from the event of the trigger; after an action such as Get, use the ID of the record.',
	modes: [
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. conv_01JD…',
		},
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Choose a conversation…',
			typeOptions: { searchListMethod: 'searchConversations', searchable: true },
		},
	],
};

export const subscriptionField: INodeProperties = {
	displayName: 'Subscription',
	name: 'subscriptionId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '' },
	description: 'The subscription to work on',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Choose a subscription…',
			typeOptions: { searchListMethod: 'searchSubscriptions', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. sub_01JD…',
		},
	],
};

export const toolField: INodeProperties = {
	displayName: 'Tool',
	name: 'toolId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'list', value: '' },
	description: 'The tool to work on',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Choose a tool…',
			typeOptions: { searchListMethod: 'searchTools', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. tool_01JD…',
		},
	],
};

/** The call that an operation works on. The default suits a node right after "Get Many". */
export const toolCallField: INodeProperties = {
	displayName: 'Tool Call',
	name: 'toolCallId',
	type: 'resourceLocator',
	required: true,
	default: { mode: 'id', value: '={{ $json.tool_call_id }}' },
	description: 'The tool call to work on. The default takes it from Tool Call → Get Many.',
	modes: [
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. call_01JD…',
		},
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Choose a call that waits for approval…',
			typeOptions: { searchListMethod: 'searchPendingToolCalls', searchable: true },
		},
	],
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
	default: { mode: 'id', value: '={{ $json.payment?.id ?? $json.id }}' },
	description:
		'The payment link to work on. The default takes it from Payment Link → Create or Get Many, and from the event payment.paid.',
	modes: [
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. pay_01JD…',
		},
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			placeholder: 'Choose a payment link…',
			typeOptions: { searchListMethod: 'searchPaymentLinks', searchable: true },
		},
	],
};

/** How far the time of a signature may differ from the clock. Both triggers have this option. */
export const toleranceField: INodeProperties = {
	displayName: 'Tolerance (Seconds)',
	name: 'tolerance',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 300,
	description:
		'How far the time of a signature may differ from the clock of n8n, in either direction. Calls beyond that are refused.',
};

export const returnAllFields: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	},
];
