import type { INodeProperties } from 'n8n-workflow';
import { optionsField, takeOverField, toleranceField } from '../shared/fields';

const parameterFields: INodeProperties[] = [
	{
		displayName: 'Name',
		name: 'name',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. order_number',
		description: 'The workflow finds the value under this name in "args"',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: [
			{ name: 'Boolean', value: 'boolean' },
			{ name: 'Integer', value: 'integer' },
			{ name: 'Number', value: 'number' },
			{ name: 'One of Several Options', value: 'options' },
			{ name: 'String', value: 'string' },
		],
		default: 'string',
	},
	{
		displayName: 'Options',
		name: 'values',
		type: 'string',
		default: '',
		placeholder: 'e.g. express, standard',
		description: 'The values that the agent can choose from, separated by commas',
		displayOptions: { show: { type: ['options'] } },
	},
	{
		displayName: 'Description',
		name: 'description',
		type: 'string',
		default: '',
		placeholder: 'e.g. The order number, such as A-1042',
		description: 'What the agent should give here',
	},
	{
		displayName: 'Required',
		name: 'required',
		type: 'boolean',
		default: true,
		description: 'Whether the agent must have a value before it calls the tool',
	},
];

const DEFAULT_SCHEMA = `{
  "type": "object",
  "properties": {
    "order_number": { "type": "string", "description": "The order number, such as A-1042" }
  },
  "required": ["order_number"]
}`;

/** The fields of the agent call trigger: what the tool is, and how a call of it is answered. */
export const toolTriggerFields: INodeProperties[] = [
	{
		displayName:
			'Publishing makes one test call with the sample arguments. Only an agent that is on calls the tool: Agent → Turn On.',
		name: 'agentNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName:
			'In expressions, read the arguments from "args", as in {{ $json.args.order_number }}',
		name: 'argumentsNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Tool Name',
		name: 'toolName',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. find_order',
		description:
			'Unique in the workspace: begins with a lower-case letter and has only lower-case letters, digits and _, at most 64',
	},
	{
		displayName: 'Description',
		name: 'toolDescription',
		type: 'string',
		typeOptions: { rows: 3 },
		required: true,
		default: '',
		placeholder: 'e.g. Finds an order by its number and says where it is',
		description:
			'What the tool does and when to use it. The agent decides from this text when to call it.',
	},
	{
		displayName: 'Example Phrases',
		name: 'examplePhrases',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		placeholder: 'e.g. where is my order',
		description:
			'What customers write when they want this tool, one phrase a line, at most 20. The agent compares messages with them.',
	},
	{
		displayName: 'Read Only',
		name: 'readOnly',
		type: 'boolean',
		default: false,
		description:
			'Whether the workflow only looks something up and changes nothing. The keyword agent calls such a tool by itself; before any other it asks the customer.',
	},
	{
		displayName: 'Parameters',
		name: 'parametersMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Define Using Fields', value: 'fields' },
			{ name: 'Define Using JSON Schema', value: 'json' },
		],
		default: 'fields',
		description: 'How to define the arguments that the agent gives',
	},
	{
		displayName: 'Parameter',
		name: 'parameters',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add Parameter',
		default: {},
		options: [{ displayName: 'Parameter', name: 'fields', values: parameterFields }],
		displayOptions: { show: { parametersMode: ['fields'] } },
	},
	{
		displayName: 'JSON Schema',
		name: 'parametersSchema',
		type: 'json',
		typeOptions: { rows: 8 },
		default: DEFAULT_SCHEMA,
		description: 'JSON Schema (2020-12) of the arguments, an object at its root',
		displayOptions: { show: { parametersMode: ['json'] } },
	},
	{
		displayName: 'Sample Arguments',
		name: 'sampleArguments',
		type: 'json',
		default: '',
		placeholder: 'e.g. {"order_number": "A-1042"}',
		description:
			'The arguments of the test call when you publish and when you click "Execute step". If empty, they are made from the parameters: "sample", the first option, 1, true. Enter real ones when the workflow looks something up or changes something.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 120 },
		default: 10,
		description:
			'How long the agent waits for the answer, up to 120 seconds. After a time-out the service repeats the call up to twice with the same tool_call_id. The workflow runs once, and its answer still counts.',
	},
	{
		displayName: 'Ask Before Running',
		name: 'askBeforeRunning',
		type: 'boolean',
		default: false,
		description:
			'Whether a person must approve each call before it is made, on the Conversations screen or with Tool Call → Approve',
	},
	{
		displayName: 'Respond',
		name: 'responseMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Immediately',
				value: 'onReceived',
				description: 'The agent only learns that the call was accepted',
			},
			{
				name: "Using 'Respond to Tool Call'",
				value: 'responseNode',
				description:
					'The agent reads what the operation Tool Call → Respond sends; without it, the call fails',
			},
			{
				name: 'When Last Node Finishes',
				value: 'lastNode',
				description: 'The agent reads the output of the last node',
			},
		],
		default: 'lastNode',
		description: 'When the call is answered, and with what',
	},
	optionsField([
		{
			displayName: 'Response Data',
			name: 'responseData',
			type: 'options',
			options: [
				{ name: 'All Items', value: 'allEntries', description: 'The agent reads a list' },
				{ name: 'First Item', value: 'firstEntryJson' },
			],
			default: 'firstEntryJson',
			description: 'What the agent reads of the last node',
			displayOptions: { show: { '/responseMode': ['lastNode'] } },
		},
		{
			displayName: 'Send Test Call',
			name: 'sendTestCall',
			type: 'boolean',
			default: true,
			description:
				'Whether the service makes a call with the sample arguments when you click "Execute step". If off, make the call yourself with Tool → Test.',
		},
		takeOverField,
		toleranceField,
	]),
];
