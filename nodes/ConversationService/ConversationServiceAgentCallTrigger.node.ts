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
import { receiveToolCall } from './workflowTool/receiveToolCall';
import { publishTool, releaseTool } from './workflowTool/toolLifecycle';
import { listenWithDraft } from './workflowTool/toolListening';
import { toolTriggerFields } from './workflowTool/toolTriggerFields';

/** Makes the workflow a tool of the agent: publishes it, verifies each call, and runs it once. */
export class ConversationServiceAgentCallTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service Agent Call Trigger',
		name: 'conversationServiceAgentCallTrigger',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['trigger'],
		version: TRIGGER_VERSIONS,
		subtitle: '={{ $parameter["toolName"] }}',
		description:
			'Makes this workflow a tool of the agent: starts it when the agent calls the tool, and answers with the result',
		eventTriggerDescription: 'Waiting for a call of the tool',
		activationMessage:
			'Conversation Service now makes a test call with the sample arguments. Once the workflow has answered it, the agent can call the tool, if the agent is on: Agent → Turn On.',
		defaults: { name: 'Conversation Service Agent Call Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'conversationServiceApi', required: true, testedBy: 'testConnection' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: '={{$parameter["responseMode"]}}',
				responseData: '={{$parameter["options"]["responseData"] || "firstEntryJson"}}',
				path: 'tool',
			},
		],
		triggerPanel: {
			header: 'Let the agent of Conversation Service call this workflow',
			executionsHelp: {
				inactive:
					'<b>While building</b>, click "Execute step": the service calls this workflow once with the sample arguments. <b>When ready</b>, publish the workflow. The service makes a test call. Once the workflow has answered it, an agent that is on can call the tool. Every call is listed under Executions.',
				active:
					'<b>While building</b>, click "Execute step": the service calls this workflow once with the sample arguments. The published tool is not touched. <b>This workflow is published</b>: every call starts an execution, listed under Executions. Tool → Get shows whether the tool is live.',
			},
			activationHint:
				'Once you have finished building, publish the workflow so that the agent can call it.',
		},
		properties: toolTriggerFields,
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
				await withFixInMessage(this, () => (isTest ? listenWithDraft(this) : publishTool(this)));
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return await releaseTool(this);
			},
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveToolCall(this);
	}
}
