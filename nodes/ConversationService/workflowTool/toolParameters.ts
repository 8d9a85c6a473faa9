import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { readJsonObject } from '../shared/jsonFields';

/** One parameter of "Define Using Fields". */
interface ParameterField {
	name?: string;
	type?: 'string' | 'number' | 'integer' | 'boolean' | 'options';
	values?: string;
	description?: string;
	required?: boolean;
}

/** A name that models, templates and expressions can all use. */
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Makes the JSON Schema (2020-12) of the tool's arguments from the fields, or reads the schema that was entered.
 * @throws NodeOperationError that names the wrong field
 */
export function readParameters(context: IHookFunctions): IDataObject {
	if (context.getNodeParameter('parametersMode', 'fields') !== 'json') {
		const fields = context.getNodeParameter('parameters.fields', []) as ParameterField[];
		return schemaOf(context, fields);
	}
	const schema = readJsonObject(context, 'parametersSchema', 'Parameters (JSON Schema)') ?? {};
	if ((schema.type ?? 'object') === 'object') return { ...schema, type: 'object' };
	throw new NodeOperationError(
		context.getNode(),
		'The JSON Schema of the parameters does not describe an object',
		{
			description:
				'The agent gives arguments by name, so the schema begins with "type": "object" and lists them under "properties".',
		},
	);
}

function schemaOf(context: IHookFunctions, fields: ParameterField[]): IDataObject {
	const names = fields.map(({ name }) => checkName(context, String(name ?? '').trim()));
	const duplicate = names.find((name, index) => names.indexOf(name) !== index);
	if (duplicate) {
		throw new NodeOperationError(
			context.getNode(),
			`The parameter "${duplicate}" is defined twice`,
			{
				description: 'Remove one of them, or give it another name.',
			},
		);
	}
	const required = names.filter((_, index) => fields[index]?.required ?? true);
	return {
		type: 'object',
		properties: Object.fromEntries(
			fields.map((field, index) => [names[index], propertyOf(context, field)]),
		),
		...(required.length > 0 ? { required } : {}),
		additionalProperties: false,
	};
}

function propertyOf(context: IHookFunctions, field: ParameterField): IDataObject {
	const description = String(field.description ?? '').trim();
	return {
		...(field.type === 'options'
			? { type: 'string', enum: readValues(context, field) }
			: { type: field.type ?? 'string' }),
		...(description ? { description } : {}),
	};
}

/** Values are separated by line breaks or commas. */
function readValues(context: IHookFunctions, { name, values }: ParameterField): string[] {
	const found = String(values ?? '')
		.split(/[\n,]/)
		.map((value) => value.trim())
		.filter(Boolean);
	if (found.length > 0) return [...new Set(found)];
	throw new NodeOperationError(context.getNode(), `The parameter "${name}" has no options`, {
		description: 'Enter the values that the agent can choose from, separated by commas.',
	});
}

function checkName(context: IHookFunctions, name: string): string {
	if (PARAMETER_NAME.test(name)) return name;
	throw new NodeOperationError(
		context.getNode(),
		name ? `"${name}" cannot be the name of a parameter` : 'A parameter has no name',
		{
			description:
				'Begin with a letter and use only letters, digits, _ and -, at most 64 in all, for example order_number.',
		},
	);
}
