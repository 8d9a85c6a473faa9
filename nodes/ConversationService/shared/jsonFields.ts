import type { IDataObject, IExecuteFunctions, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * The JSON object that a field holds, as text or as the value of an expression.
 * @returns null when the field is empty
 * @throws NodeOperationError when it is something else
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
	if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
		return parsed as IDataObject;
	}
	throw new NodeOperationError(
		context.getNode(),
		parsed === undefined ? `"${label}" is not valid JSON` : `"${label}" is not a JSON object`,
		{
			itemIndex,
			description: 'Enter an object such as {"order_number": "A-1042"}.',
		},
	);
}

/**
 * What a JSON field holds: text, or what an expression gave; undefined when the text is no JSON.
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
