import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** What an ID begins with, and how to come by one. */
const KINDS = {
	conversation: {
		prefix: ['conv'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.conversation.id }} after the event trigger, {{ $json.conversation_id }} after the Agent Trigger and after the trigger of a tool, {{ $json.id }} after an action that returns a conversation. For a node further behind, name the trigger: {{ $("Conversation Service Trigger").item.json.conversation.id }} or {{ $("Conversation Service Agent Trigger").item.json.conversation_id }}.',
	},
	contact: {
		prefix: ['ctc'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.contact_id }} after Conversation → Get, {{ $json.id }} after Contact → Find. An event has no contact ID: put Conversation → Get before this node.',
	},
	subscription: {
		prefix: ['sub'],
		hint: 'Choose one from the list; Subscription → Get Many shows the IDs.',
	},
	'payment link': {
		prefix: ['pay'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.id }} after Payment Link → Create, {{ $json.payment.id }} after the event Payment Paid.',
	},
	tool: {
		prefix: ['tool'],
		hint: 'Choose one from the list; Tool → Get Many shows the IDs.',
	},
	'agent turn': {
		prefix: ['turn'],
		hint: 'Put this node after a "Conversation Service Agent Trigger", or set an expression that has a value for every item: {{ $("Conversation Service Agent Trigger").item.json.turn_id }}.',
	},
	'tool call': {
		prefix: ['call'],
		hint: 'Choose one from the list, or set an expression that has a value for every item: {{ $json.tool_call_id }} after Tool Call → Get Many.',
	},
	delivery: {
		prefix: ['dlv', 'evt'],
		hint: 'Subscription → Get Deliveries shows the IDs of the deliveries and of their events.',
	},
};

/**
 * Reads an ID from a field, ready for a path; an empty field means `fallback`.
 * @throws NodeOperationError when it is empty or the ID of something else
 */
export function getId(
	context: IExecuteFunctions,
	parameter: string,
	what: keyof typeof KINDS,
	itemIndex: number,
	fallback?: unknown,
): string {
	const { prefix, hint } = KINDS[what];
	const value: unknown = context.getNodeParameter(parameter, itemIndex, '', { extractValue: true });
	const id = String(value ?? '').trim() || String(fallback ?? '');
	if (prefix.some((each) => id.startsWith(`${each}_`)) && /^[A-Za-z0-9_-]+$/.test(id)) return id;
	throw new NodeOperationError(
		context.getNode(),
		id
			? `"${id}" is not the ID of ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}`
			: `The ID of the ${what} is empty`,
		{ itemIndex, description: hint },
	);
}
