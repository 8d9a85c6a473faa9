import type { IDataObject, IExecuteFunctions, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * Reads the JSON object in a field, which holds text or the value of an expression.
 * @returns null when the field is empty
 * @throws NodeOperationError when it is not a JSON object
 */
export function readJsonObject(
	context: IExecuteFunctions | IHookFunctions,
	parameter: string,
	label: string,
	itemIndex?: number,
): IDataObject | null {
	const value =
		itemIndex === undefined
			? (context as IHookFunctions).getNodeParameter(parameter, '')
			: (context as IExecuteFunctions).getNodeParameter(parameter, itemIndex, '');
	if (isEmpty(value)) return null;
	const parsed = parseJson(value);
	if (isJsonObject(parsed)) return parsed;
	throw new NodeOperationError(
		context.getNode(),
		parsed === undefined ? `"${label}" is not valid JSON` : `"${label}" is not a JSON object`,
		{ itemIndex, description: 'Enter an object such as {"order_number": "A-1042"}.' },
	);
}

/** Whether a value is an object with fields: no list, no text, not null. */
export const isJsonObject = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Parses JSON text, and returns the value of an expression as it is.
 * @returns undefined when the text is not JSON
 */
export function parseJson(value: unknown): unknown {
	if (typeof value !== 'string') return value;
	try {
		return JSON.parse(value);
	} catch {
		return undefined;
	}
}

const isEmpty = (value: unknown): boolean =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
