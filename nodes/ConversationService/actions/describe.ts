import type { INodeProperties } from 'n8n-workflow';
import { updateDisplayOptions } from 'n8n-workflow';
import type { Operation, Resource } from './operation';
import { describeOutput } from './output';

/** Makes the fields of the node: the resource, its operations, and the fields of each operation. */
export function describeResources(
	resources: Resource[],
	defaultResource: Resource,
): INodeProperties[] {
	const first = defaultResource.option.value;
	return [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: resources.map(({ option }) => option),
			default: first,
		},
		...resources.flatMap(describeOperations),
	];
}

function describeOperations({ option, operations, defaultOperation }: Resource): INodeProperties[] {
	const resource = [option.value];
	const first = defaultOperation.option.value;
	return [
		{
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			noDataExpression: true,
			displayOptions: { show: { resource } },
			options: operations.map((operation) => operation.option),
			default: first,
		},
		...operations.flatMap((operation) =>
			updateDisplayOptions(
				{ show: { resource, operation: [operation.option.value] } },
				fieldsOf(operation),
			),
		),
	];
}

/** The choice of the output comes after the operation's own fields, before its filters and options. */
function fieldsOf(operation: Operation): INodeProperties[] {
	const { fields } = operation;
	if (!('record' in operation) || !operation.record) return fields;
	const collection = fields.findIndex(({ type }) => type === 'collection');
	const end = collection < 0 ? fields.length : collection;
	return [...fields.slice(0, end), ...describeOutput(operation.record), ...fields.slice(end)];
}
