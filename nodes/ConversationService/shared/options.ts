import type { INodePropertyOptions } from 'n8n-workflow';

export const CHANNELS: INodePropertyOptions[] = [
	{ name: 'Web Chat', value: 'web_chat' },
	{ name: 'WhatsApp', value: 'whatsapp_cloud' },
];

/** In the words of the service's screens. */
export const STATUSES: INodePropertyOptions[] = [
	{ name: 'Closed', value: 'closed' },
	{
		name: 'Waiting for a Person',
		value: 'awaiting_human',
		description: 'Handed over, and nobody has taken it yet',
	},
	{ name: 'With a Person', value: 'human_active', description: 'A person answers' },
	{ name: 'With the Agent', value: 'ai_active', description: 'The agent answers' },
];

/** In the order of the funnel. */
export const FUNNEL_STAGES: INodePropertyOptions[] = [
	{ name: 'New', value: 'new' },
	{ name: 'Engaged', value: 'engaged' },
	{ name: 'Qualified', value: 'qualified' },
	{ name: 'Payment Pending', value: 'payment_pending' },
	{ name: 'Customer', value: 'customer' },
	{ name: 'Lost', value: 'lost' },
];

export const VERDICTS: INodePropertyOptions[] = [
	{ name: 'Goal Not Reached', value: 'goal_not_reached' },
	{ name: 'Goal Reached', value: 'goal_reached' },
	{ name: 'No Response', value: 'no_response' },
	{ name: 'Not Relevant', value: 'not_relevant' },
	{ name: 'Unknown', value: 'unknown' },
];

export const AGENT_LANGUAGES: INodePropertyOptions[] = [
	{ name: 'English', value: 'en' },
	{ name: 'Portuguese', value: 'pt' },
	{ name: 'Spanish', value: 'es' },
];

/** From the strictest to the freest. */
export const PAYMENT_LINK_POLICIES: INodePropertyOptions[] = [
	{ name: 'No', value: 'off' },
	{ name: 'Yes, a Person Approves Each', value: 'ask' },
	{
		name: 'Yes, by Itself',
		value: 'allow',
		description: 'The keyword agent still asks a person, since the customer names the amount',
	},
];

export const PAYMENT_PROVIDERS: INodePropertyOptions[] = [
	{ name: 'Manual', value: 'manual', description: 'A page with your instructions' },
	{ name: 'Stripe', value: 'stripe' },
];

export const PAYMENT_STATUSES: INodePropertyOptions[] = [
	{ name: 'Cancelled', value: 'cancelled' },
	{
		name: 'Creating',
		value: 'creating',
		description: 'The provider is preparing the payment page',
	},
	{ name: 'Expired', value: 'expired' },
	{ name: 'Failed', value: 'failed', description: 'The provider or a bank refused the payment' },
	{ name: 'Open', value: 'open', description: 'Not paid yet' },
	{ name: 'Paid', value: 'paid' },
];

export const TOOL_STATUSES: INodePropertyOptions[] = [
	{ name: 'Draft', value: 'draft', description: 'Not tested yet, or its test failed' },
	{ name: 'Live', value: 'live', description: 'The agent can call it' },
	{ name: 'Paused', value: 'paused' },
];

export const TOOL_CALL_STATUSES: INodePropertyOptions[] = [
	{ name: 'Cancelled', value: 'cancelled' },
	{ name: 'Expired', value: 'expired', description: 'Nobody decided in time' },
	{ name: 'Failed', value: 'failed' },
	{ name: 'Pending Approval', value: 'pending_approval', description: 'A person has to decide' },
	{ name: 'Rejected', value: 'rejected' },
	{ name: 'Running', value: 'running' },
	{ name: 'Succeeded', value: 'succeeded' },
];

/** The statuses of a turn that a workflow answers for the agent. */
export const TURN_STATUSES: INodePropertyOptions[] = [
	{ name: 'Answered', value: 'answered' },
	{ name: 'Failed', value: 'failed', description: 'A person was asked to take over' },
	{ name: 'Queued', value: 'queued', description: 'Waits for its next attempt' },
	{ name: 'Running', value: 'running', description: 'The workflow has it' },
	{ name: 'Superseded', value: 'superseded', description: 'Something newer came first' },
	{
		name: 'Suspended',
		value: 'suspended',
		description: 'The workflow waits for a customer or a colleague',
	},
];

/** Why the agent hands over. */
export const HANDOVER_REASONS: INodePropertyOptions[] = [
	{ name: 'Agent Error', value: 'agent_error', description: 'The workflow failed' },
	{ name: 'Customer Request', value: 'customer_request', description: 'The customer asked for it' },
	{ name: 'Missing Knowledge', value: 'missing_knowledge', description: 'A person has to answer' },
	{
		name: 'Tool Failure',
		value: 'tool_failure',
		description: 'Another system did not work',
	},
];

/**
 * Adds the values of a field to its description. An AI agent that fills the field in reads only the
 * description, and so does a person who writes an expression.
 */
export const withValues = (description: string, options: INodePropertyOptions[]): string =>
	`${description}. One of: ${options.map(({ value }) => String(value)).join(', ')}.`;
