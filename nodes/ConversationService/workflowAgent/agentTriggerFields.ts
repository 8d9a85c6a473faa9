import type { INodeProperties } from 'n8n-workflow';
import { optionsField, takeOverField, toleranceField } from '../shared/fields';

/** The fields of the agent trigger: how the workflow answers, and in which time. */
export const agentTriggerFields: INodeProperties[] = [
	{
		displayName:
			'Publishing makes this workflow the agent of all conversations, and turns the agent on. One workflow at a time can be the agent.',
		name: 'agentNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName:
			'An AI Agent right after this trigger reads "chatInput", and its memory "sessionId". After another node, choose "Define below" in both.',
		name: 'chatInputNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Respond',
		name: 'responseMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Using Agent Turn Operations',
				value: 'onReceived',
				description:
					'The customer reads what Agent Turn → Reply sends. For branches, and to wait for people.',
			},
			{
				name: 'When Last Node Finishes',
				value: 'lastNode',
				description:
					'The customer reads "output", "reply" or "text" of each item of the last node. If it has no items, nothing is sent.',
			},
		],
		default: 'lastNode',
		description: 'How this workflow answers the customer',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 5, maxValue: 300 },
		default: 60,
		description:
			'How long the workflow has for its answer, from 5 to 300 seconds. After that, a person is asked for, and a late answer is refused.',
	},
	optionsField([
		takeOverField,
		toleranceField,
		{
			displayName: 'Turn On the Agent',
			name: 'turnOn',
			type: 'boolean',
			default: true,
			description:
				'Whether publishing turns the agent on. If off, the agent stays as it is; turn it on with Agent → Turn On.',
		},
	]),
];
