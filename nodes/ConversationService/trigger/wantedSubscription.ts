import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { getAddress, getOwner } from '../shared/owner';

/** Without a choice, nothing that an API key sends: the workflow could start itself. */
const SENT_BY_DEFAULT = ['agent', 'team_member'];

/**
 * Reads the subscription that the trigger needs from its fields, as the API takes it.
 * @throws NodeOperationError when no event is chosen
 */
export function readWanted(context: IHookFunctions): IDataObject {
	const events = readEvents(context);
	return {
		events,
		target_url: getAddress(context),
		source: 'n8n',
		filter: readFilter(context, events),
		catch_up: context.getNodeParameter('options.catchUp', true) as boolean,
		// A test without an owner does not keep another n8n from subscribing.
		owner: context.getMode() === 'manual' ? null : getOwner(context),
	};
}

function readEvents(context: IHookFunctions): string[] {
	const events = readList(context, 'events');
	if (events.length > 0) return events;
	throw new NodeOperationError(context.getNode(), 'No event is chosen', {
		description: 'Choose at least one event that starts this workflow, then publish again.',
	});
}

function readFilter(context: IHookFunctions, events: string[]): IDataObject {
	const lists = {
		channels: readList(context, 'filters.channels'),
		conversation_ids: readList(context, 'filters.conversationIds'),
		funnel_stages: readList(context, 'filters.funnelStages'),
		statuses: readList(context, 'filters.statuses'),
		senders: events.includes('message.sent') ? readSenders(context) : [],
		received_as: events.includes('message.received') ? readReceivedAs(context) : [],
	};
	return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

/** Whose messages are sent as events. The customer is always included, for message.received. */
function readSenders(context: IHookFunctions): string[] {
	const chosen = readList(context, 'sentBy');
	return ['customer', ...(chosen.length > 0 ? chosen : SENT_BY_DEFAULT)];
}

/** Without the option, no answers to waiting workflows: a workflow that asks would start itself. */
const readReceivedAs = (context: IHookFunctions): string[] =>
	context.getNodeParameter('options.includeAnswers', false) ? [] : ['message'];

/** Reads a field with several values, each once: a list, or a text with commas. */
function readList(context: IHookFunctions, name: string): string[] {
	const value = context.getNodeParameter(name, []) as string | string[];
	const items = [value].flat().flatMap((item) => String(item ?? '').split(','));
	return [...new Set(items.map((item) => item.trim()).filter(Boolean))];
}
