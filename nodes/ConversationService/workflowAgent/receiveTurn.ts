import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { receiveCall, type ReadCall } from '../shared/receiveCall';
import { readStoredAgent } from './agentLifecycle';

/** Receives one turn. The last node answers it, or Agent Turn operations do, after a 202 here. */
export const receiveTurn = async (context: IWebhookFunctions): Promise<IWebhookResponseData> =>
	await receiveCall(context, {
		secret: readStoredAgent(context).secret,
		readCall: readTurn,
		acceptedStatus:
			context.getNodeParameter('responseMode', 'lastNode') === 'onReceived' ? 202 : null,
	});

/** The workflow gets the turn as the service sent it. */
const readTurn = (body: IDataObject): ReadCall =>
	typeof body.turn_id === 'string' && body.turn_id
		? { id: body.turn_id, output: body }
		: { problem: 'The body is not a turn of the agent.' };
