import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';
import { requestList } from '../api/transport';
import type { EventDescription } from '../api/types';

/** The events, for when the service cannot be reached. */
const BUILT_IN_EVENTS: EventDescription[] = [
	{
		name: 'approval.decided',
		description: 'A waiting approval was approved or rejected, or ended without a decision',
	},
	{ name: 'approval.requested', description: 'A tool call of the agent waits for approval' },
	{
		name: 'conversation.awaiting_human',
		description: 'The agent handed over, and a person is needed',
	},
	{
		name: 'conversation.closed',
		description: 'The conversation was closed, by a person or by the agent',
	},
	{ name: 'conversation.handed_over', description: 'A person took over' },
	{ name: 'conversation.opened', description: 'A new conversation starts on any channel' },
	{
		name: 'conversation.qualified',
		description: 'The conversation reaches Qualified or beyond for the first time',
	},
	{ name: 'message.received', description: 'The customer wrote' },
	{ name: 'message.sent', description: 'The agent or a team member replied' },
	{
		name: 'payment.paid',
		description: 'A payment link created in the conversation was paid',
	},
];

/** The events of the service, or the built-in list when it cannot be reached. */
export async function getEvents(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await findEvents(this))
		.map(({ name, description }) => ({ name: titleOf(name), value: name, description }))
		.sort((a, b) => a.name.localeCompare(b.name));
}

async function findEvents(context: ILoadOptionsFunctions): Promise<EventDescription[]> {
	try {
		const events = await requestList<EventDescription>(context, {
			path: '/api/hooks/events',
			maxWaitSeconds: 0,
		});
		return events.length > 0 ? events : BUILT_IN_EVENTS;
	} catch (error) {
		context.logger.debug('Using the built-in list of events', { error: (error as Error).message });
		return BUILT_IN_EVENTS;
	}
}

/** `conversation.handed_over` → `Conversation Handed Over` */
const titleOf = (event: string): string =>
	event
		.split(/[._]/)
		.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
		.join(' ');
