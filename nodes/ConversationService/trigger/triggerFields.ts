import type { INodeProperties } from 'n8n-workflow';
import { EVENTS } from './events';
import { optionsField, takeOverField, toleranceField } from '../shared/fields';
import { CHANNELS, FUNNEL_STAGES, STATUSES } from '../shared/options';

const filtersField: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	description: 'Only events that pass all filters start the workflow. The service sends no others.',
	options: [
		{
			displayName: 'Channels',
			name: 'channels',
			type: 'multiOptions',
			options: CHANNELS,
			default: [],
			description: 'Only conversations on one of these channels',
		},
		{
			displayName: 'Conversation IDs',
			name: 'conversationIds',
			type: 'string',
			default: '',
			placeholder: 'e.g. conv_01JD…, conv_01JE…',
			description: 'Only these conversations, separated by commas',
		},
		{
			displayName: 'Funnel Stages',
			name: 'funnelStages',
			type: 'multiOptions',
			options: FUNNEL_STAGES,
			default: [],
			description: 'Only conversations at one of these stages when the event happened',
		},
		{
			displayName: 'Statuses',
			name: 'statuses',
			type: 'multiOptions',
			options: STATUSES,
			default: [],
			description: 'Only conversations in one of these statuses when the event happened',
		},
	],
};

export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Events',
		name: 'events',
		type: 'multiOptions',
		required: true,
		options: EVENTS,
		default: ['message.received'],
		description: 'The events that start this workflow',
	},
	{
		displayName: 'Sent By',
		name: 'sentBy',
		type: 'multiOptions',
		required: true,
		options: [
			{ name: 'Agent', value: 'agent' },
			{ name: 'API', value: 'api', description: 'An API key, such as the one of an n8n workflow' },
			{ name: 'Team Member', value: 'team_member' },
		],
		default: ['agent', 'team_member'],
		displayOptions: { show: { events: ['message.sent'] } },
		description: 'Whose messages start the workflow, for the event Message Sent',
	},
	{
		displayName:
			'What a workflow sends does not start this one, so that it cannot start itself. "Sent By" changes that.',
		name: 'sentByNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { events: ['message.sent'] }, hide: { sentBy: ['api'] } },
	},
	filtersField,
	optionsField([
		{
			displayName: 'Catch Up After an Outage',
			name: 'catchUp',
			type: 'boolean',
			default: true,
			description:
				'Whether events of the last 24 hours that did not arrive because n8n was away are sent when it is back',
		},
		{
			displayName: 'Include Answers to Waiting Workflows',
			name: 'includeAnswers',
			type: 'boolean',
			default: false,
			displayOptions: { show: { '/events': ['message.received'] } },
			description:
				'Whether what customers reply to "Send and Wait for Reply" starts this workflow too, for the event Message Received. Such a message carries a wait_id. If on, this workflow must not ask customers itself: each answer would start it again.',
		},
		{
			displayName: 'Send Sample Event',
			name: 'sendSample',
			type: 'boolean',
			default: false,
			description:
				'Whether to have the service send a sample of the first chosen event when you click "Execute step". It comes whatever the filters are.',
		},
		takeOverField,
		toleranceField,
	]),
];
