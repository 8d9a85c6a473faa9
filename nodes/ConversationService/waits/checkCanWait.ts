import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { AGENT_TRIGGER, findStartingTrigger } from '../shared/startingTrigger';

/** Refuses, before anything is sent, where n8n could not wait or would take the answer for another. */
export function checkCanWait(context: IExecuteFunctions): void {
	checkTool(context);
	checkWorkflow(context);
	checkItems(context);
}

function refuse(context: IExecuteFunctions, message: string, description: string): never {
	throw new NodeOperationError(context.getNode(), message, { itemIndex: 0, description });
}

function checkTool(context: IExecuteFunctions): void {
	if (isTool(context)) {
		refuse(
			context,
			'A tool of an AI agent cannot wait',
			'To ask your team before a tool runs, put a human review between the AI Agent and the tool: point at their connection, click "Add human review step" and choose Conversation Service. To ask the customer, let the workflow wait after the AI Agent.',
		);
	}
}

function checkWorkflow(context: IExecuteFunctions): void {
	if (context.getWorkflowSettings().executionOrder !== 'v1') {
		refuse(
			context,
			'This workflow cannot wait: its execution logic is "v0 (legacy)"',
			'With it, n8n can take an approval for a rejection. In the workflow’s settings ("…" at the top right → Settings), set "Execution Logic" to "v1 (recommended)". For a workflow that is made by API: {"settings": {"executionOrder": "v1"}}.',
		);
	}
	const agent = findStartingTrigger(context, AGENT_TRIGGER);
	if (agent && agent.parameters?.responseMode !== 'onReceived') {
		refuse(
			context,
			`The trigger "${agent.name}" answers by the last node, which cannot answer after a wait`,
			`Set "Respond" of "${agent.name}" to "Using Agent Turn Operations", end the workflow with Agent Turn → Reply, then publish again.`,
		);
	}
}

function checkItems(context: IExecuteFunctions): void {
	const count = context.getInputData().length;
	if (count > 1) {
		refuse(
			context,
			`This node got ${count} items, but can wait for one only`,
			'The whole execution rests while it waits. Put a "Loop Over Items" node with a batch size of 1 before this node, or turn on "Execute Once" in its settings to ask for the first item only.',
		);
	}
}

/** Newer AI Agents run their tools as nodes, where `isToolExecution` says no. */
const isTool = (context: IExecuteFunctions): boolean =>
	/(?<!Hitl)Tool$/.test(context.getNode().type) || (context.isToolExecution?.() ?? false);
