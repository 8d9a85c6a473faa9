import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** The conversation ID in a tool's test call and in a turn of "Try it". No conversation has it. */
export const TEST_CONVERSATION_ID = 'conv_test';

/** The field that holds an ID, what the ID begins with, and where to find one. */
const KINDS = {
	conversation: {
		field: 'conversationId',
		prefixes: ['conv'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.conversation.id }} after the event trigger, {{ $json.conversation_id }} after the Agent Trigger and after the trigger of a tool, {{ $json.id }} after an action that returns a conversation. In a later node, name the trigger: {{ $("Conversation Service Trigger").item.json.conversation.id }} or {{ $("Conversation Service Agent Trigger").item.json.conversation_id }}.',
	},
	contact: {
		field: 'contactId',
		prefixes: ['ctc'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.contact_id }} after Conversation → Get, {{ $json.id }} after Contact → Find. An event has no contact ID: put Conversation → Get before this node.',
	},
	subscription: {
		field: 'subscriptionId',
		prefixes: ['sub'],
		hint: 'Choose one from the list; Subscription → Get Many shows the IDs.',
	},
	'payment link': {
		field: 'paymentLinkId',
		prefixes: ['pay'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.id }} after Payment Link → Create, {{ $json.payment.id }} after the event Payment Paid.',
	},
	tool: {
		field: 'toolId',
		prefixes: ['tool'],
		hint: 'Choose one from the list; Tool → Get Many shows the IDs.',
	},
	'agent turn': {
		field: 'turnId',
		prefixes: ['turn'],
		hint: 'Put this node after a "Conversation Service Agent Trigger", or set an expression that has a value for every item: {{ $("Conversation Service Agent Trigger").item.json.turn_id }}.',
	},
	'tool call': {
		field: 'toolCallId',
		prefixes: ['call'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.tool_call_id }} after Tool Call → Get Many.',
	},
	delivery: {
		field: 'deliveryId',
		prefixes: ['dlv', 'evt'],
		hint: 'Subscription → Get Deliveries shows the IDs of the deliveries and of their events.',
	},
};

/**
 * Reads the ID in the field of its kind, safe for a path. If the field is empty, takes `fallback`.
 * @throws NodeOperationError when there is no ID, or it is that of another kind
 */
export function getId(
	context: IExecuteFunctions,
	kind: keyof typeof KINDS,
	itemIndex: number,
	fallback?: unknown,
): string {
	const { field, prefixes, hint } = KINDS[kind];
	const value: unknown = context.getNodeParameter(field, itemIndex, '', { extractValue: true });
	const id = String(value ?? '').trim() || String(fallback ?? '');
	if (prefixes.some((prefix) => id.startsWith(`${prefix}_`)) && /^[A-Za-z0-9_-]+$/.test(id))
		return id;
	throw new NodeOperationError(
		context.getNode(),
		id
			? `"${id}" is not the ID of ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`
			: `The ID of the ${kind} is empty`,
		{ itemIndex, description: hint },
	);
}
