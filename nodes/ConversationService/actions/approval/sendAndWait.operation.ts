import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { optionsField } from '../../shared/fields';
import { getId, TEST_CONVERSATION_ID } from '../../shared/ids';
import { readJsonObject } from '../../shared/jsonFields';
import { conversationField } from '../../shared/locators';
import { toText } from '../../shared/text';
import { restingTurnField } from '../../shared/turn';
import { checkCanWait } from '../../waits/checkCanWait';
import { SEND_AND_WAIT } from '../../waits/restartWebhooks';
import { startWait } from '../../waits/startWait';
import { oneItemNotice, timeLimitFields } from '../../waits/waitFields';
import type { Operation } from '../operation';

const SPECIFY = [
	{ name: 'Using Fields Below', value: 'fields' },
	{ name: 'Using JSON', value: 'json' },
];
const specifyDetails: INodeProperties = {
	displayName: 'Specify Details',
	name: 'specifyDetails',
	type: 'options',
	noDataExpression: true,
	options: SPECIFY,
	default: 'fields',
	displayOptions: { show: { '@tool': [false] } },
	description: 'How to enter the details that are shown beside the question',
};
const detailsJson: INodeProperties = {
	displayName: 'Details',
	name: 'details',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. {"Order": "A-1042", "Amount": "19.90"}',
	displayOptions: { show: { '@tool': [false], specifyDetails: ['json'] } },
	description: 'An object whose fields are shown beside the question, as a list',
};

/** In a human review, which n8n counts as a tool, the details are the arguments of the reviewed tool. */
const reviewDetails: INodeProperties[] = [
	{
		...specifyDetails,
		default: 'json',
		displayOptions: { show: { '@tool': [true] } },
	},
	{
		...detailsJson,
		default: '={{ $tool.parameters }}',
		displayOptions: { show: { '@tool': [true], specifyDetails: ['json'] } },
	},
];

export const sendAndWait: Operation = {
	option: {
		name: 'Ask and Wait',
		value: SEND_AND_WAIT,
		action: 'Ask for approval and wait',
		description: 'Ask your team, and go on when somebody approves or rejects',
	},
	fields: [
		oneItemNotice,
		{
			displayName: 'Message',
			name: 'message',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. Refund this order?',
			description: 'The question on the card that your team sees, up to 4,096 characters',
		},
		specifyDetails,
		{
			displayName: 'Details',
			name: 'detailFields',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true, sortable: true },
			placeholder: 'Add Detail',
			default: {},
			displayOptions: { show: { specifyDetails: ['fields'] } },
			options: [
				{
					displayName: 'Detail',
					name: 'values',
					values: [
						{
							displayName: 'Label',
							name: 'label',
							type: 'string',
							default: '',
							placeholder: 'e.g. Amount',
						},
						{
							displayName: 'Value',
							name: 'value',
							type: 'string',
							default: '',
							placeholder: 'e.g. 19.90 EUR',
						},
					],
				},
			],
			description: 'What is shown beside the question, as a list',
		},
		detailsJson,
		...reviewDetails,
		{
			...conversationField,
			required: false,
			default: { mode: 'list', value: '={{ $json.conversation?.id ?? $json.conversation_id }}' },
			description:
				'The conversation whose page shows the card. The default takes it from the item of a Conversation Service trigger. When it is empty, a workflow that is the agent uses the conversation of its turn; in other workflows, the card is only on the Decisions screen.',
		},
		...timeLimitFields,
		restingTurnField,
		optionsField([
			{
				displayName: 'Approve Label',
				name: 'approveLabel',
				type: 'string',
				default: 'Approve',
			},
			{
				displayName: 'Reject Label',
				name: 'rejectLabel',
				type: 'string',
				default: 'Reject',
			},
		]),
	],
	async executeOnce(context) {
		checkCanWait(context);
		return await startWait(context, { kind: 'decision', ...readQuestion(context) });
	},
};

function readQuestion(context: IExecuteFunctions): IDataObject {
	const details = readDetails(context);
	const message = readMessage(context, details);
	if (!message) {
		throw new NodeOperationError(context.getNode(), 'The message is empty', {
			itemIndex: 0,
			description: 'Enter a question, or an expression that has a value.',
		});
	}
	const conversationId = readConversationId(context);
	const options = context.getNodeParameter('options', 0, {}) as {
		approveLabel?: string;
		rejectLabel?: string;
	};
	return {
		message,
		...(conversationId ? { conversation_id: conversationId } : {}),
		...(Object.keys(details).length > 0 ? { details } : {}),
		...(options.approveLabel ? { approve_label: options.approveLabel } : {}),
		...(options.rejectLabel ? { reject_label: options.rejectLabel } : {}),
	};
}

/**
 * Reads what is shown beside the question, from the rows of the panel or from JSON.
 * @throws NodeOperationError when the JSON is not an object, or two rows have the same label
 */
function readDetails(context: IExecuteFunctions): IDataObject {
	if (context.getNodeParameter('specifyDetails', 0, 'fields') === 'json') {
		return readJsonObject(context, 'details', 'Details', 0) ?? {};
	}
	const rows = context.getNodeParameter('detailFields.values', 0, []) as IDataObject[];
	const details = new Map<string, IDataObject[string]>();
	for (const { label, value } of rows) {
		const name = String(label ?? '').trim();
		if (name === '') continue;
		if (details.has(name)) {
			throw new NodeOperationError(context.getNode(), `Two details have the label "${name}"`, {
				itemIndex: 0,
				description: 'Give each detail a label of its own.',
			});
		}
		details.set(name, value);
	}
	return Object.fromEntries(details);
}

/**
 * n8n's default message in a human review ends with the arguments, written as [object Object]. They
 * are left out, since the details show them, or there are none.
 */
function readMessage(context: IExecuteFunctions, details: IDataObject): string {
	const value: unknown = context.getNodeParameter('message', 0, '');
	const hasDetails =
		Object.keys(details).length > 0 || context.getNodeParameter('specifyDetails', 0, '') === 'json';
	const message =
		typeof value === 'string' && hasDetails
			? value.trim().replace(/\n+Input:\n\[object Object\]$/, '')
			: value;
	return toText(context, message, 'The message').trim();
}

function readConversationId(context: IExecuteFunctions): string | null {
	const value: unknown = context.getNodeParameter('conversationId', 0, '', { extractValue: true });
	// A test of the agent has no conversation: its card belongs to the workspace.
	if (['', TEST_CONVERSATION_ID].includes(String(value ?? '').trim())) return null;
	return getId(context, 'conversation', 0);
}
