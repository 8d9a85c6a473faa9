import type { IDataObject, IExecuteFunctions, NodeTypeAndVersion } from 'n8n-workflow';

export const AGENT_TRIGGER = /\.conversationServiceAgentTrigger$/;
export const TOOL_TRIGGER = /\.conversationServiceAgentCallTrigger$/;

type FindNode = (name: string) => { isExecuted: boolean; first(): { json: IDataObject } };

const findNode = (context: IExecuteFunctions): FindNode =>
	(context.getWorkflowDataProxy(0) as { $: FindNode }).$;

/** Finds the trigger that started the execution and leads to this node, if it has this type. */
export const findStartingTrigger = (
	context: IExecuteFunctions,
	type: RegExp,
): NodeTypeAndVersion | undefined =>
	nodesBefore(context)
		.filter((node) => type.test(node.type) && !node.disabled)
		.find(({ name }) => findNode(context)(name).isExecuted);

/** The output of that trigger; an empty object when there is none. */
export const startingOutput = (context: IExecuteFunctions, type: RegExp): IDataObject => {
	const trigger = findStartingTrigger(context, type);
	return trigger ? findNode(context)(trigger.name).first().json : {};
};

/**
 * All nodes that lead to this one. A human review is connected only to the tool that it reviews,
 * but gets its item from the AI Agent. So the nodes that lead to the AI Agent count too.
 */
function nodesBefore(context: IExecuteFunctions): NodeTypeAndVersion[] {
	const source = context.getExecuteData().source?.main?.[0]?.previousNode;
	const names = [context.getNode().name, ...(source ? [source] : [])];
	return names.flatMap((name) => context.getParentNodes(name, { includeNodeParameters: true }));
}
