import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { agent } from './actions/agent';
import { agentTurn } from './actions/agentTurn';
import { approval } from './actions/approval';
import { contact } from './actions/contact';
import { conversation } from './actions/conversation';
import { describeResources } from './actions/describe';
import { executeOperation } from './actions/router';
import { message } from './actions/message';
import { note } from './actions/note';
import { paymentLink } from './actions/paymentLink';
import { subscription } from './actions/subscription';
import { tool } from './actions/tool';
import { toolCall } from './actions/toolCall';
import { testConnection } from './api/credentialTest';
import {
	searchContacts,
	searchConversations,
	searchPaymentLinks,
	searchPendingToolCalls,
	searchSubscriptions,
	searchTools,
} from './shared/listSearch';
import { restartWebhooks, WAITING_TOOLTIP } from './waits/restartWebhooks';
import { resumeWait } from './waits/resumeWait';

/** The order matters: n8n builds human review on the first operation that waits, Approval's. */
const resources = [
	agent,
	agentTurn,
	approval,
	contact,
	conversation,
	message,
	note,
	paymentLink,
	subscription,
	tool,
	toolCall,
];

/**
 * Calls the service's API: contacts, conversations, payment links, subscriptions, the turns of its agent,
 * its tools and their calls.
 */
export class ConversationService implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service',
		name: 'conversationService',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description:
			'Find and read conversations with customers, reply, take over, hand back to the agent, and close with a verdict; ask customers and your team and wait for the answer; make payment links; answer and approve the calls of the agent’s tools',
		defaults: { name: 'Conversation Service' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'conversationServiceApi', required: true, testedBy: 'testConnection' }],
		webhooks: restartWebhooks,
		waitingNodeTooltip: WAITING_TOOLTIP,
		properties: describeResources(resources, conversation),
	};

	methods = {
		listSearch: {
			searchContacts,
			searchConversations,
			searchPaymentLinks,
			searchPendingToolCalls,
			searchSubscriptions,
			searchTools,
		},
		credentialTest: { testConnection },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await executeOperation(this, resources);
	}

	/** The service calls this to resume a waiting execution. */
	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await resumeWait(this);
	}
}
