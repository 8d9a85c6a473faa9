import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { parseUrl } from '../api/baseUrl';

/** The trigger's webhook address. A test has its own address, so the published one stays in use. */
export const getAddress = (context: IHookFunctions): string =>
	context.getNodeWebhookUrl('default') as string;

/** Which n8n this is. A clone of an n8n has the same ID, but another host. */
export const getInstance = (context: IHookFunctions): IDataObject => ({
	instance_id: context.getInstanceId(),
	host: parseUrl(context.getNodeWebhookUrl('default') ?? '')?.host,
});

/** Which trigger of which n8n this is. */
export const getIdentity = (context: IHookFunctions): IDataObject => ({
	...getInstance(context),
	workflow_id: context.getWorkflow().id,
	node_id: context.getNode().id,
});

/** The owner of what a trigger publishes, as the API takes it and shows it to people. */
export const getOwner = (context: IHookFunctions): IDataObject => ({
	...getIdentity(context),
	workflow_name: context.getWorkflow().name,
});
