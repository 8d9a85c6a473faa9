import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { ItemOperation, Operation, Resource } from './operation';
import { readOutput } from './output';

/** Runs the chosen operation. With "continue on fail", a failed item becomes an error item. */
export async function executeOperation(
	context: IExecuteFunctions,
	resources: Resource[],
): Promise<INodeExecutionData[][]> {
	const operation = findOperation(context, resources);
	if ('executeOnce' in operation) {
		return [await outputOrError(context, 0, () => operation.executeOnce(context))];
	}
	const output: INodeExecutionData[] = [];
	for (let itemIndex = 0; itemIndex < context.getInputData().length; itemIndex++) {
		const items = await outputOrError(
			context,
			itemIndex,
			async () => await outputOf(operation, context, itemIndex),
		);
		for (const item of items) output.push(item);
	}
	return [output];
}

/** Runs the operation for one item. Reduces records that arrive in pages one by one. */
async function outputOf(
	operation: ItemOperation,
	context: IExecuteFunctions,
	itemIndex: number,
): Promise<INodeExecutionData[]> {
	const reduce = readOutput(context, itemIndex, operation.record);
	const result = await operation.execute(context, itemIndex);
	const records = Symbol.asyncIterator in result ? result : [result].flat();
	const items: INodeExecutionData[] = [];
	for await (const record of records as AsyncIterable<IDataObject>) {
		items.push({ json: reduce(record), pairedItem: { item: itemIndex } });
	}
	return items;
}

async function outputOrError(
	context: IExecuteFunctions,
	itemIndex: number,
	run: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	try {
		return await run();
	} catch (error) {
		const failure = toNodeError(context, error, itemIndex);
		if (!context.continueOnFail()) throw failure;
		return [{ json: toJson(failure), pairedItem: { item: itemIndex } }];
	}
}

function findOperation(context: IExecuteFunctions, resources: Resource[]): Operation {
	const resource = context.getNodeParameter('resource', 0);
	const operation = context.getNodeParameter('operation', 0);
	const found = resources
		.find(({ option }) => option.value === resource)
		?.operations.find(({ option }) => option.value === operation);
	if (found) return found;
	throw new NodeOperationError(
		context.getNode(),
		`There is no operation "${String(operation)}" of "${String(resource)}"`,
		{ description: 'Choose a resource and an operation from the lists of this node.' },
	);
}

function toNodeError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		error.context.itemIndex = itemIndex;
		return error;
	}
	return new NodeOperationError(context.getNode(), error as Error, { itemIndex });
}

/** Makes an error item. n8n keeps both of its fields: `error`, and `details` for everything else. */
function toJson(error: NodeApiError | NodeOperationError): IDataObject {
	const details: IDataObject = {};
	if (error.description) details.fix = error.description;
	if (error.context.code) details.code = error.context.code as string;
	return { error: error.message, details };
}
