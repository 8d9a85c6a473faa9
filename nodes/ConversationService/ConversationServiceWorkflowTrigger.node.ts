import type {
	IHookFunctions,
	INodeType,
	INodeTypeDescription,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { testConnection } from './api/credentialTest';
import { receiveToolCall } from './workflowTool/receiveToolCall';
import { publishTool, releaseTool } from './workflowTool/toolLifecycle';
import { listenWithDraft } from './workflowTool/toolListening';
import { toolTriggerFields } from './workflowTool/toolTriggerFields';

/** Makes the workflow a tool of the agent: publishes it, verifies each call, and runs it once. */
export class ConversationServiceWorkflowTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Conversation Service Tool Trigger',
		name: 'conversationServiceWorkflowTrigger',
		icon: { light: 'file:conversationService.svg', dark: 'file:conversationService.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["toolName"] }}',
		description:
			'Gives the agent a tool: starts the workflow when the agent calls it, and answers with its result',
		eventTriggerDescription: 'Waiting for the agent to call the tool',
		activationMessage:
			'Conversation Service now makes a test call with the sample arguments. When the workflow has answered it, the agent can use the tool. If the test call fails, the page of the tool at the service and last_test of Tool → Get say why.',
		defaults: { name: 'Conversation Service Tool Trigger' },
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
					'<b>While building</b>, click "Listen for test event": the service then calls this workflow with the sample arguments, under the name of the tool with "_test" at the end.<br /><br /><b>When ready</b>, publish the workflow. The service makes a test call. Once the workflow has answered it, the agent can use the tool. Every call is listed under Executions.',
				active:
					'<b>While building</b>, click "Listen for test event": the service then calls this workflow with the sample arguments, under the name of the tool with "_test" at the end. The published tool is not touched.<br /><br /><b>This workflow is published</b>: every call starts an execution, listed under Executions. Tool → Get shows whether the tool is live.',
			},
			activationHint:
				'Once you have finished building, publish the workflow so that the agent can use the tool.',
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
				if (this.getMode() === 'manual') await listenWithDraft(this);
				else await publishTool(this);
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
