import type { INodePropertyOptions } from 'n8n-workflow';

/**
 * The events of the service. The list is in the code, since n8n's node search then has an entry for
 * each event, under its `action`. For a list that is loaded, it has a single entry.
 */
export const EVENTS: INodePropertyOptions[] = [
	{
		name: 'Approval Decided',
		value: 'approval.decided',
		action: 'On approval decided',
		description: 'A waiting approval was approved or rejected, or ended without a decision',
	},
	{
		name: 'Approval Requested',
		value: 'approval.requested',
		action: 'On approval requested',
		description: 'A tool call of the agent waits for approval',
	},
	{
		name: 'Conversation Awaiting Human',
		value: 'conversation.awaiting_human',
		action: 'On conversation awaiting human',
		description: 'The agent handed over, and a person is needed',
	},
	{
		name: 'Conversation Closed',
		value: 'conversation.closed',
		action: 'On conversation closed',
		description: 'The conversation was closed, by a person or by the agent',
	},
	{
		name: 'Conversation Handed Over',
		value: 'conversation.handed_over',
		action: 'On conversation handed over',
		description: 'A person took over',
	},
	{
		name: 'Conversation Opened',
		value: 'conversation.opened',
		action: 'On conversation opened',
		description: 'A new conversation starts on any channel',
	},
	{
		name: 'Conversation Qualified',
		value: 'conversation.qualified',
		action: 'On conversation qualified',
		description: 'The conversation reaches Qualified or beyond for the first time',
	},
	{
		name: 'Message Received',
		value: 'message.received',
		action: 'On message received',
		description: 'The customer wrote',
	},
	{
		name: 'Message Sent',
		value: 'message.sent',
		action: 'On message sent',
		description: 'The agent or a team member replied',
	},
	{
		name: 'Payment Paid',
		value: 'payment.paid',
		action: 'On payment paid',
		description: 'A payment link created in the conversation was paid',
	},
];
