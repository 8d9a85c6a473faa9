import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { requestService } from '../../api/transport';

/** Changes the given settings of the agent and keeps the others. */
export const updateAgent = async (
	context: IExecuteFunctions,
	itemIndex: number,
	body: IDataObject,
): Promise<IDataObject> =>
	await requestService(context, { method: 'PATCH', path: '/api/agent', body, itemIndex });
