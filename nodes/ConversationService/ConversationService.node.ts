import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { conversation } from './actions/conversation';
import { describeResources } from './actions/describe';
import { executeOperation } from './actions/router';
import { subscription } from './actions/subscription';
import { testConnection } from './shared/credentialTest';
import { getEvents } from './shared/events';
import { searchConversations, searchSubscriptions } from './shared/listSearch';

const resources = [conversation, subscription];

/** Calls the service's API: finds, reads and changes conversations, and looks after subscriptions. */
export class ConversationService implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service',
		name: 'conversationService',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description:
			'Find and read conversations with customers, reply, take over, hand back to the agent, and close with a verdict',
		defaults: { name: 'Conversation Service' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'conversationServiceApi', required: true, testedBy: 'testConnection' }],
		properties: describeResources(resources),
	};

	methods = {
		loadOptions: { getEvents },
		listSearch: { searchConversations, searchSubscriptions },
		credentialTest: { testConnection },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this, resources);
	}
}
