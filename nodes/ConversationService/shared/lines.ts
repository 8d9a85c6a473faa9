import type { IExecuteFunctions, IHookFunctions } from 'n8n-workflow';
import { toText } from './text';

/**
 * The lines of a field, or the texts in an expression's list, trimmed and without empty ones.
 * @param field as in the panel
 * @throws NodeOperationError when one is an object or a list
 */
export const linesOf = (
	context: IExecuteFunctions | IHookFunctions,
	value: unknown,
	field: string,
	itemIndex = 0,
): string[] => {
	const text = (each: unknown) => toText(context, each, `A line of "${field}"`, itemIndex);
	return (Array.isArray(value) ? value.map(text) : text(value).split('\n'))
		.map((line) => line.trim())
		.filter(Boolean);
};
