import type { IDataObject, IExecuteFunctions, NodeTypeAndVersion } from 'n8n-workflow';

type FindNode = (name: string) => { isExecuted: boolean; first(): { json: IDataObject } };

const findNode = (context: IExecuteFunctions): FindNode =>
	(context.getWorkflowDataProxy(0) as { $: FindNode }).$;

/** The trigger in front of this node that started the execution, if it is one of these. */
export const findStartingTrigger = (
	context: IExecuteFunctions,
	type: RegExp,
): NodeTypeAndVersion | undefined =>
	nodesBefore(context)
		.filter((node) => type.test(node.type) && !node.disabled)
		.find(({ name }) => findNode(context)(name).isExecuted);

/** What that trigger put out. */
export const outputOfStart = (context: IExecuteFunctions, type: RegExp): IDataObject => {
	const trigger = findStartingTrigger(context, type);
	return trigger ? findNode(context)(trigger.name).first().json : {};
};

/** Nothing leads to a human review but the tool that it reviews: its item comes from the AI Agent. */
function nodesBefore(context: IExecuteFunctions): NodeTypeAndVersion[] {
	const source = context.getExecuteData().source?.main?.[0]?.previousNode;
	const names = [context.getNode().name, ...(source ? [source] : [])];
	return names.flatMap((name) => context.getParentNodes(name, { includeNodeParameters: true }));
}

export const AGENT_TRIGGER = /\.conversationServiceAgentTrigger$/;
export const TOOL_TRIGGER = /\.conversationServiceAgentCallTrigger$/;

/** The turn that started the execution, if the workflow is the agent. */
export const turnOfStart = (context: IExecuteFunctions): string => {
	const { turn_id: turnId } = outputOfStart(context, AGENT_TRIGGER);
	return typeof turnId === 'string' ? turnId : '';
};
