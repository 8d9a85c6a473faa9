import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { withArgs } from './args';
import { answer, memoryKey, verifyCall } from '../shared/incomingCall';
import { readStoredTool } from './storedTool';
import { ToolCallMemory } from './toolCallMemory';
import { testName } from './toolDefinition';

/** The conversation of a test call. */
const TEST_CONVERSATION_ID = 'conv_test';

const memory = new ToolCallMemory();

interface Envelope extends IDataObject {
	tool_call_id: string;
	tool: string;
	arguments: IDataObject;
	conversation_id: string;
}

/**
 * Receives one tool call: verifies it, recognises a repeat, and starts the workflow. The last node or
 * the response node answers the call. A refused call starts nothing: a 503 asks the service to try
 * again, a 401 fails the call.
 */
export async function receiveToolCall(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { secret } = readStoredTool(context);
	if (!secret) return answer(context, 503, 'The secret of this tool is not known yet. Try again.');
	const call = await verifyCall<Envelope>(context, secret);
	if ('refusal' in call) return answer(context, 401, call.refusal);
	const problem = findProblem(context, call.body);
	if (problem) return answer(context, 401, problem);

	const envelope = call.body as Envelope;
	const response = context.getResponseObject();
	const key = memoryKey(context, envelope.tool_call_id);
	if (memory.repeat(key, response)) return { noWebhookResponse: true };
	memory.follow(key, response);
	const workflowData = [[{ json: toOutput(context, envelope) }]];
	if (context.getNodeParameter('responseMode', 'lastNode') !== 'onReceived')
		return { workflowData };
	// Answered here, since n8n's own answer would not be JSON.
	response.status(200).json({ status: 'accepted' });
	return { noWebhookResponse: true, workflowData };
}

function findProblem(context: IWebhookFunctions, envelope: Partial<Envelope>): string | null {
	const { tool, tool_call_id: id, arguments: given } = envelope;
	const name = getToolName(context);
	const expected = context.getMode() === 'manual' ? testName(name) : name;
	if (tool !== expected) return 'The body is not a call of the tool that this trigger defines.';
	if (typeof id !== 'string' || !id) return 'The body has no tool_call_id.';
	const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
	return isObject ? null : 'The arguments in the body are not an object.';
}

/** Has the name of the published tool even in a test, so that the workflow sees the same input. */
const toOutput = (context: IWebhookFunctions, envelope: Envelope): IDataObject =>
	withArgs({
		tool_call_id: envelope.tool_call_id,
		tool: getToolName(context),
		arguments: envelope.arguments,
		conversation_id: envelope.conversation_id,
		...(envelope.conversation_id === TEST_CONVERSATION_ID ? { is_test: true } : {}),
	});

const getToolName = (context: IWebhookFunctions): string =>
	String(context.getNodeParameter('toolName', '') ?? '').trim();
