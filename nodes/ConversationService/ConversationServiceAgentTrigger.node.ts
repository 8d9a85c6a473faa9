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
import { listenForTestTurns, publishAgent, releaseAgent } from './workflowAgent/agentLifecycle';
import { agentTriggerFields } from './workflowAgent/agentTriggerFields';
import { receiveTurn } from './workflowAgent/receiveTurn';

/** Makes the workflow the agent: publishes it, and starts it once for each turn that is verified. */
export class ConversationServiceAgentTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service Agent Trigger',
		name: 'conversationServiceAgentTrigger',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['trigger'],
		version: TRIGGER_VERSIONS,
		subtitle:
			'={{ $parameter["responseMode"] === "onReceived" ? "answers by Agent Turn" : "answers by the last node" }}',
		description:
			'Makes this workflow the agent: starts it when a customer has written, and answers the customer with what it says. It never talks over a person.',
		eventTriggerDescription:
			'Waiting for a message under "Try it" on the Agent screen of Conversation Service',
		activationMessage:
			'This workflow is now the agent of Conversation Service, and the agent is on, unless the option "Turn On the Agent" is off. Write on the service’s chat page (/chat) to see the first answer.',
		defaults: { name: 'Conversation Service Agent Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'conversationServiceApi', required: true, testedBy: 'testConnection' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: '={{$parameter["responseMode"]}}',
				responseData: 'allEntries',
				path: 'agent',
			},
		],
		triggerPanel: {
			header:
				'Execute the step, then write under "Try it" on the Agent screen of the service (/agent)',
			executionsHelp: {
				inactive:
					'<b>While building</b>, click "Execute step", or "Execute workflow" to see the answer too. Then open the Agent screen of the service (/agent at its base URL) and write under "Try it": only what you write there comes here, and no customer reads the answer. <b>When ready</b>, publish the workflow: it is then the agent. Every turn is listed under Executions.',
				active:
					'<b>While building</b>, click "Execute step", or "Execute workflow" to see the answer too. Then open the Agent screen of the service (/agent at its base URL) and write under "Try it": only what you write there comes here. <b>This workflow is published</b>: every turn of a customer starts an execution, listed under Executions.',
			},
			activationHint:
				'Once you have finished building, publish the workflow so that it answers customers.',
		},
		properties: agentTriggerFields,
	};

	methods = {
		credentialTest: { testConnection },
	};

	webhookMethods = {
		default: {
			/** Publishing can be repeated, so there is nothing to look up first. */
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return false;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				const isTest = this.getMode() === 'manual';
				await withFixInMessage(this, () =>
					isTest ? listenForTestTurns(this) : publishAgent(this),
				);
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return await releaseAgent(this);
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveTurn(this);
	}
}
