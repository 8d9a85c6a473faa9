import type {
	IHookFunctions,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { testConnection } from './api/credentialTest';
import { withFixInMessage } from './api/publishingErrors';
import { TRIGGER_VERSIONS } from './shared/versions';
import { receiveDelivery } from './trigger/receiveDelivery';
import {
	createSubscription,
	deleteSubscriptions,
	hasSubscription,
	sendSampleSoon,
} from './trigger/subscriptionLifecycle';
import { triggerFields } from './trigger/triggerFields';

/**
 * Starts a workflow on events. It has one subscription for all its events and verifies each delivery.
 */
export class ConversationServiceTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service Trigger',
		name: 'conversationServiceTrigger',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['trigger'],
		version: TRIGGER_VERSIONS,
		subtitle: '={{ $parameter["events"].join(", ") }}',
		description:
			'Conversations with customers: starts the workflow when a customer writes, the agent asks for a person or an approval, a conversation opens, qualifies, is handed over or closes, or a payment arrives',
		eventTriggerDescription: 'Waiting for Conversation Service to send an event',
		activationMessage:
			'Conversation Service now sends the chosen events to this workflow. Write in a chat to see the first one under Executions.',
		defaults: { name: 'Conversation Service Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'conversationServiceApi', required: true, testedBy: 'testConnection' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: 'noData',
				path: 'webhook',
			},
		],
		triggerPanel: {
			header: 'Execute the step, then write in a chat',
			executionsHelp: {
				inactive:
					'<b>While building</b>, click "Execute step", then write in a chat. <b>When ready</b>, publish the workflow: every event then starts an execution, listed under Executions.',
				active:
					'<b>While building</b>, click "Execute step", then write in a chat. <b>This workflow is published</b>: every event starts an execution, listed under Executions.',
			},
			activationHint:
				'Once you have finished building, publish the workflow to receive events all the time.',
		},
		properties: triggerFields,
	};

	methods = {
		credentialTest: { testConnection },
	};

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await withFixInMessage(this, () => hasSubscription(this));
			},
			async create(this: IHookFunctions): Promise<boolean> {
				await withFixInMessage(this, () => createSubscription(this));
				const isTest = this.getMode() === 'manual';
				// Not awaited: the sample can be verified only after this has returned.
				if (isTest && this.getNodeParameter('options.sendSample', false)) void sendSampleSoon(this);
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return await deleteSubscriptions(this);
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveDelivery(this);
	}
}
