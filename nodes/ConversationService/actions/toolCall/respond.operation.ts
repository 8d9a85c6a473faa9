import type { IExecuteFunctions, INodeExecutionData, INodePropertyOptions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { optionsField } from '../../shared/fields';
import { parseJson } from '../../shared/jsonFields';
import { withValues } from '../../shared/options';
import { findStartingTrigger, TOOL_TRIGGER } from '../../shared/startingTrigger';
import { getText } from '../../shared/text';
import type { Operation } from '../operation';

/** The most bytes of an answer that the service reads. */
const MAX_BYTES = 1024 * 1024;

const RESPONSES: INodePropertyOptions[] = [
	{ name: 'First Incoming Item', value: 'firstItem' },
	{ name: 'JSON', value: 'json' },
	{
		name: 'Text Message',
		value: 'text',
		description: 'The agent reads it as {"message": "…"}',
	},
];

export const respond: Operation = {
	option: {
		name: 'Respond',
		value: 'respond',
		action: 'Respond to tool call',
		description:
			'Answer the call that started this workflow; the trigger must be set to respond using this operation',
	},
	fields: [
		{
			displayName: 'Respond With',
			name: 'respondWith',
			type: 'options',
			options: RESPONSES,
			default: 'firstItem',
			description: withValues(
				'What the agent reads. The call is answered once, however many items come in',
				RESPONSES,
			),
		},
		{
			displayName: 'Response Body',
			name: 'responseBody',
			type: 'json',
			default: '{}',
			placeholder: 'e.g. {"status": "shipped"}',
			displayOptions: { show: { respondWith: ['json'] } },
		},
		{
			displayName: 'Message',
			name: 'message',
			type: 'string',
			typeOptions: { rows: 3 },
			required: true,
			default: '',
			placeholder: 'e.g. The order was shipped on Monday',
			displayOptions: { show: { respondWith: ['text'] } },
		},
		optionsField([
			{
				displayName: 'Report as Failed',
				name: 'isFailed',
				type: 'boolean',
				default: false,
				description:
					'Whether to answer with the error status 422, so that the agent tells the customer that it could not be done right now and offers a person. The service does not repeat the call.',
			},
		]),
	],
	async executeOnce(context) {
		checkStart(context);
		const body = JSON.stringify(readBody(context));
		if (Buffer.byteLength(body) > MAX_BYTES) {
			throw new NodeOperationError(context.getNode(), 'The response is larger than 1 MB', {
				description: 'The service does not read more. Respond only with what the agent needs.',
				itemIndex: 0,
			});
		}
		await context.sendResponse({
			// Serialized here: n8n would send a string without its quotes, which is not JSON.
			body,
			headers: { 'content-type': 'application/json; charset=utf-8' },
			statusCode: context.getNodeParameter('options.isFailed', 0, false) ? 422 : 200,
		});
		return context
			.getInputData()
			.map((item, index): INodeExecutionData => ({ ...item, pairedItem: { item: index } }));
	},
};

function readBody(context: IExecuteFunctions): unknown {
	const respondWith = context.getNodeParameter('respondWith', 0, 'firstItem');
	if (respondWith === 'firstItem') return context.getInputData()[0]?.json ?? {};
	if (respondWith === 'json') return readJson(context);
	return { message: getText(context, 'message', 0, 'message of the response') };
}

/** Reads any JSON: usually an object, but a list or a text works too. */
function readJson(context: IExecuteFunctions): unknown {
	const body = parseJson(context.getNodeParameter('responseBody', 0, '{}'));
	if (body !== undefined) return body;
	throw new NodeOperationError(context.getNode(), '"Response Body" is not valid JSON', {
		description: 'Enter JSON such as {"status": "shipped"}. Put a text in double quotes.',
		itemIndex: 0,
	});
}

/**
 * Checks that this node can answer the call. n8n passes an answer on only if a trigger in this response
 * mode started the execution; otherwise it drops the answer silently.
 */
function checkStart(context: IExecuteFunctions): void {
	const start = findStartingTrigger(context, TOOL_TRIGGER);
	if (!start) {
		throw new NodeOperationError(
			context.getNode(),
			'This execution was not started by a tool call, so there is nothing to respond to',
			{
				description:
					'Put this node after a "Conversation Service Agent Call Trigger", and start the workflow by calling its tool: press "Execute step", or use Tool → Test.',
				itemIndex: 0,
			},
		);
	}
	if (start.parameters?.responseMode === 'responseNode') return;
	throw new NodeOperationError(
		context.getNode(),
		`The trigger "${start.name}" does not wait for this response`,
		{
			description: `Set "Respond" of "${start.name}" to "Using 'Respond to Tool Call'", then publish again.`,
			itemIndex: 0,
		},
	);
}
