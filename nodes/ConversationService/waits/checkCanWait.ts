import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import {
	AGENT_TRIGGER,
	findStartingTrigger,
	startingOutput,
	TOOL_TRIGGER,
} from '../shared/startingTrigger';

/** Refuses, before anything is sent, where n8n could not wait or would misread the answer. */
export function checkCanWait(context: IExecuteFunctions): void {
	checkTool(context);
	checkWorkflow(context);
	checkResponseMode(context);
	checkTestCall(context);
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
}

/** The triggers whose calls expect an answer, and the modes in which the workflow may wait. */
const ANSWERING: { type: RegExp; modes: string[]; howToSet: string }[] = [
	{
		type: AGENT_TRIGGER,
		modes: ['onReceived'],
		howToSet:
			'to "Using Agent Turn Operations", end the workflow with Agent Turn → Reply, then publish again.',
	},
	{
		type: TOOL_TRIGGER,
		modes: ['onReceived', 'responseNode'],
		howToSet:
			'to "Using \'Respond to Tool Call\'", and put Tool Call → Respond before this node: it tells the agent what to say while people decide. Then publish again.',
	},
];

/** In the mode "last node", n8n answers a call with the trigger's output as soon as the execution rests. */
function checkResponseMode(context: IExecuteFunctions): void {
	for (const { type, modes, howToSet } of ANSWERING) {
		const trigger = findStartingTrigger(context, type);
		if (!trigger || modes.includes(String(trigger.parameters?.responseMode))) continue;
		refuse(
			context,
			`The trigger "${trigger.name}" answers by the last node, which cannot answer after a wait`,
			`Set "Respond" of "${trigger.name}" ${howToSet}`,
		);
	}
}

/** Publishing a tool makes a test call, and nobody should be asked about a test. */
function checkTestCall(context: IExecuteFunctions): void {
	if (startingOutput(context, TOOL_TRIGGER).is_test !== true) return;
	refuse(
		context,
		'This call only tests the tool: nobody is asked',
		'To try it for real, publish the workflow, turn the agent on, and write on the chat page what makes the agent call the tool. For a test that ends without this error, let an If node route calls with {{ $json.is_test }} past this node.',
	);
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

/**
 * Newer AI Agents run their tools as nodes, where `isToolExecution` says no. A human review is a node
 * of type `…HitlTool`, and can wait.
 */
const isTool = (context: IExecuteFunctions): boolean =>
	/(?<!Hitl)Tool$/.test(context.getNode().type) || (context.isToolExecution?.() ?? false);
