import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { TEST_CONVERSATION_ID } from '../shared/ids';
import { isJsonObject } from '../shared/jsonFields';
import { receiveCall, type ReadCall } from '../shared/receiveCall';
import { withArgs } from './args';
import { readStoredTool } from './storedTool';
import { testName } from './toolDefinition';

interface Envelope extends IDataObject {
	tool_call_id: string;
	tool: string;
	arguments: IDataObject;
	conversation_id: string;
}

/** Receives one tool call, which the last node, Tool Call → Respond or this trigger answers. */
export const receiveToolCall = async (context: IWebhookFunctions): Promise<IWebhookResponseData> =>
	await receiveCall(context, {
		secret: readStoredTool(context).secret,
		readCall: (body) => readToolCall(context, body),
		acceptedStatus:
			context.getNodeParameter('responseMode', 'lastNode') === 'onReceived' ? 200 : null,
	});

function readToolCall(context: IWebhookFunctions, body: Partial<Envelope>): ReadCall {
	const { tool, tool_call_id: id, arguments: given } = body;
	const name = getToolName(context);
	const expected = context.getMode() === 'manual' ? testName(name) : name;
	if (tool !== expected) {
		return { problem: 'The body is not a call of the tool that this trigger defines.' };
	}
	if (typeof id !== 'string' || !id) return { problem: 'The body has no tool_call_id.' };
	if (!isJsonObject(given)) return { problem: 'The arguments in the body are not an object.' };
	return { id, output: toOutput(name, body as Envelope) };
}

/** Names the published tool even in a test, so that the workflow sees the same input. */
const toOutput = (name: string, envelope: Envelope): IDataObject =>
	withArgs({
		tool_call_id: envelope.tool_call_id,
		tool: name,
		arguments: envelope.arguments,
		conversation_id: envelope.conversation_id,
		...(envelope.conversation_id === TEST_CONVERSATION_ID ? { is_test: true } : {}),
	});

const getToolName = (context: IWebhookFunctions): string =>
	String(context.getNodeParameter('toolName', '') ?? '').trim();
