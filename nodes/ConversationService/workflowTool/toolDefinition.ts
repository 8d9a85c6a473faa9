import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { errorCode, errorParam } from '../api/errors';
import { readJsonObject } from '../shared/jsonFields';
import { linesOf } from '../shared/lines';
import { getAddress } from '../shared/owner';
import { readTimeoutSeconds } from '../shared/timeout';
import { sampleArguments } from './sampleArguments';
import { readParameters } from './toolParameters';

/** A tool as the API accepts it, without what the service sets, such as its status. */
export interface ToolDefinition extends IDataObject {
	name: string;
	description: string;
	parameters: IDataObject;
	endpoint: string;
	timeout: number;
	ask_before_running: boolean;
	read_only: boolean;
	example_phrases: string[];
}

interface ObjectSchema {
	required?: string[];
	properties?: Record<string, unknown>;
	additionalProperties?: unknown;
}

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_NAME_CHARACTERS = 64;
const TEST_SUFFIX = '_test';
const SAMPLE_FIX =
	'Enter "Sample Arguments" that match the parameters: the service makes a test call with them before the tool goes live.';

/**
 * Reads the definition of the tool from the fields of the trigger.
 * @throws NodeOperationError that names the wrong field and what to enter
 */
export function readDefinition(context: IHookFunctions): ToolDefinition {
	return {
		name: readName(context),
		description: readDescription(context),
		parameters: readParameters(context),
		endpoint: getAddress(context),
		timeout: readTimeoutSeconds(context, { min: 1, max: 120 }),
		ask_before_running: context.getNodeParameter('askBeforeRunning', false) as boolean,
		read_only: context.getNodeParameter('readOnly', false) as boolean,
		example_phrases: linesOf(
			context,
			context.getNodeParameter('examplePhrases', ''),
			'Example Phrases',
		),
	};
}

/**
 * Reads the arguments of the test call. If the user entered none, makes them from the schema.
 * @throws NodeOperationError when an argument is missing or unknown; the service checks the rest
 */
export function readSample(context: IHookFunctions, parameters: IDataObject): IDataObject {
	const entered = readJsonObject(context, 'sampleArguments', 'Sample Arguments');
	if (!entered) return sampleArguments(parameters);
	const { required = [], properties = {}, additionalProperties } = parameters as ObjectSchema;
	const given = Object.keys(entered);
	const missing = required.find((name) => !given.includes(name));
	const known = Object.keys(properties);
	const unknown =
		additionalProperties === false ? given.find((name) => !known.includes(name)) : undefined;
	if (missing === undefined && unknown === undefined) return entered;
	throw new NodeOperationError(
		context.getNode(),
		missing === undefined
			? `"Sample Arguments" has "${unknown}", which is not a parameter of the tool`
			: `"Sample Arguments" has no "${missing}", which is a required parameter`,
		{
			description:
				'Enter an object with a value for each parameter, or leave the field empty. The values are then made from the parameters.',
		},
	);
}

/** Makes the error say what to enter when the arguments of a test call do not match the parameters. */
export function explainSampleError<T>(error: T): T {
	const isAboutSample = ['arguments', 'sample_arguments'].includes(errorParam(error) ?? '');
	if (error instanceof NodeApiError && errorCode(error) === 'invalid_request' && isAboutSample) {
		error.message = error.message.replace(/^arguments(?:\.(\S+))?/, (_all, name?: string) =>
			name ? `"Sample Arguments" (${name})` : '"Sample Arguments"',
		);
		error.description = SAMPLE_FIX;
		error.context.fix = SAMPLE_FIX;
	}
	return error;
}

/** The draft that the service calls while the user executes the step. It never goes live. */
export const testDefinition = (definition: ToolDefinition): ToolDefinition => ({
	...definition,
	name: testName(definition.name),
	ask_before_running: false,
});

export const testName = (name: string): string =>
	`${name.slice(0, MAX_NAME_CHARACTERS - TEST_SUFFIX.length)}${TEST_SUFFIX}`;

/** @throws NodeOperationError when the API would refuse the name */
export function readName(context: IHookFunctions): string {
	const name = String(context.getNodeParameter('toolName', '') ?? '').trim();
	if (NAME.test(name)) return name;
	throw new NodeOperationError(
		context.getNode(),
		name ? `"${name}" cannot be the name of a tool` : 'The tool has no name',
		{
			description:
				'Begin "Tool Name" with a lower-case letter and use only lower-case letters, digits and _, at most 64 in all, for example find_order.',
		},
	);
}

function readDescription(context: IHookFunctions): string {
	const description = String(context.getNodeParameter('toolDescription', '') ?? '').trim();
	if (description) return description;
	throw new NodeOperationError(context.getNode(), 'The tool has no description', {
		description:
			'Enter in "Description" what the tool does and when to use it. The agent uses it to decide when to call the tool.',
	});
}
