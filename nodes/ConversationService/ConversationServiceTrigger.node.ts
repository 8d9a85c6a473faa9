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
import { getEvents } from './trigger/events';
import { toleranceField } from './shared/fields';
import { CHANNELS, FUNNEL_STAGES, STATUSES } from './shared/options';
import { receiveDelivery } from './trigger/receiveDelivery';
import {
	createSubscriptions,
	deleteSubscriptions,
	haveSubscriptions,
	sendSampleSoon,
} from './trigger/subscriptionLifecycle';

/**
 * Starts a workflow on events. It has one subscription per event and verifies each delivery.
 */
export class ConversationServiceTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service Trigger',
		name: 'conversationServiceTrigger',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["events"].join(", ") }}',
		description:
			'Starts the workflow when a customer writes, a conversation opens, qualifies, is handed over or closes, or a payment arrives',
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
			header: 'Get events from Conversation Service',
			executionsHelp: {
				inactive:
					'<b>While building</b>, click "Listen for test event", then write in a chat, or turn on the option "Send Sample Event" to get a sample at once.<br /><br /><b>When ready</b>, publish the workflow. Every event then starts an execution, listed under Executions.',
				active:
					'<b>While building</b>, click "Listen for test event", then write in a chat, or turn on the option "Send Sample Event" to get a sample at once.<br /><br /><b>This workflow is published</b>: every event starts an execution, listed under Executions.',
			},
			activationHint:
				'Once you have finished building, publish the workflow to receive events all the time.',
		},
		properties: [
			{
				displayName: 'Event Names or IDs',
				name: 'events',
				type: 'multiOptions',
				required: true,
				default: ['message.received'],
				typeOptions: { loadOptionsMethod: 'getEvents' },
				description:
					'The events that start this workflow; the workspace gets one subscription for each. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
			},
			{
				displayName: 'Filters',
				name: 'filters',
				type: 'collection',
				placeholder: 'Add Filter',
				default: {},
				description: 'Events of other conversations are accepted but do not start the workflow',
				options: [
					{
						displayName: 'Channels',
						name: 'channels',
						type: 'multiOptions',
						options: CHANNELS,
						default: [],
						description: 'Only conversations on one of these channels',
					},
					{
						displayName: 'Funnel Stages',
						name: 'funnelStages',
						type: 'multiOptions',
						options: FUNNEL_STAGES,
						default: [],
						description: 'Only conversations at one of these stages when the event happened',
					},
					{
						displayName: 'Statuses',
						name: 'statuses',
						type: 'multiOptions',
						options: STATUSES,
						default: [],
						description: 'Only conversations in one of these statuses when the event happened',
					},
				],
			},
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add Option',
				default: {},
				options: [
					{
						displayName: 'Send Sample Event',
						name: 'sendSample',
						type: 'boolean',
						default: false,
						description:
							'Whether to have the service send a sample of the first chosen event when you listen for a test event. The filters are not applied while you listen.',
					},
					toleranceField,
				],
			},
		],
	};

	methods = {
		loadOptions: { getEvents },
		credentialTest: { testConnection },
	};

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return await withFixInMessage(this, () => haveSubscriptions(this));
			},
			async create(this: IHookFunctions): Promise<boolean> {
				await withFixInMessage(this, () => createSubscriptions(this));
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
