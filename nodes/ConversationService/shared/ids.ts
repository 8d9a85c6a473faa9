import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

const HINTS = {
	conversation:
		'Choose one from the list, or set an expression that has a value for every item: {{ $json.conversation.id }} after the trigger, {{ $json.id }} after an action such as Get.',
	subscription: 'Choose one from the list; Subscription → Get Many shows the IDs.',
	'payment link':
		'Choose one from the list, or set an expression that has a value for every item: {{ $json.id }} after Payment Link → Create, {{ $json.payment.id }} after the event payment.paid.',
	tool: 'Choose one from the list; Tool → Get Many shows the IDs.',
	'tool call':
		'Choose one from the list, or set an expression that has a value for every item: {{ $json.tool_call_id }} after Tool Call → Get Many.',
	delivery: 'Subscription → Get Deliveries shows the IDs of the deliveries and of their events.',
};

/**
 * Reads an ID from a field, ready for a path.
 * @throws NodeOperationError when it is empty or cannot be an ID
 */
export function getId(
	context: IExecuteFunctions,
	parameter: string,
	what: keyof typeof HINTS,
	itemIndex: number,
): string {
	const value: unknown = context.getNodeParameter(parameter, itemIndex, '', { extractValue: true });
	const id = String(value ?? '').trim();
	if (/^[A-Za-z0-9_-]+$/.test(id)) return id;
	throw new NodeOperationError(
		context.getNode(),
		id ? `"${id}" is not the ID of a ${what}` : `The ID of the ${what} is empty`,
		{ itemIndex, description: HINTS[what] },
	);
}
