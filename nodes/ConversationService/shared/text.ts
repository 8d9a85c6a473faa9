import type { IExecuteFunctions, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

const OBJECT_IN_TEXT = '[object Object]';
const NAME_ITS_FIELD = 'Name its field, such as {{ $json.output.reply }}';

/**
 * The text of a value. n8n does not convert the value of an expression: it can be of any type.
 * @param what the beginning of a sentence, as in "The text"
 * @throws NodeOperationError for an object or a list, and for a text in which n8n has written an
 * object as "[object Object]"
 */
export function toText(
	context: IExecuteFunctions | IHookFunctions,
	value: unknown,
	what: string,
	itemIndex = 0,
): string {
	// A date is an object too, but a text can be made of it.
	if (typeof value === 'object' && value !== null && !('toJSON' in value)) {
		throw new NodeOperationError(
			context.getNode(),
			`${what} is ${Array.isArray(value) ? 'a list' : 'an object'}, not a text`,
			{ itemIndex, description: NAME_ITS_FIELD },
		);
	}
	const text = String(value ?? '');
	if (!text.includes(OBJECT_IN_TEXT) || isInItem(context, itemIndex)) return text;
	throw new NodeOperationError(
		context.getNode(),
		`${what} contains ${OBJECT_IN_TEXT}: an expression in it is an object, not a text`,
		{ itemIndex, description: NAME_ITS_FIELD },
	);
}

/** Whether the item itself contains the words. A customer may have written them. */
const isInItem = (context: IExecuteFunctions | IHookFunctions, itemIndex: number): boolean =>
	'getInputData' in context &&
	JSON.stringify(context.getInputData()[itemIndex]?.json ?? null).includes(OBJECT_IN_TEXT);

/**
 * Reads the text of a field, blanks around it included.
 * @param what the beginning of a sentence about the field
 * @returns undefined when it is blank
 * @throws NodeOperationError when it is, or contains, an object or a list
 */
export function findText(
	context: IExecuteFunctions,
	field: string,
	itemIndex: number,
	what = `The ${field}`,
): string | undefined {
	const text = toText(context, context.getNodeParameter(field, itemIndex, ''), what, itemIndex);
	return text.trim() ? text : undefined;
}

/**
 * Reads the text of a field, blanks around it included.
 * @param what as in "text of the note"
 * @param hintWhenEmpty a sentence on how to send no text, with a blank before it
 * @throws NodeOperationError when it is blank, or is or contains an object or a list
 */
export function getText(
	context: IExecuteFunctions,
	field: string,
	itemIndex: number,
	what: string,
	hintWhenEmpty = '',
): string {
	const text = findText(context, field, itemIndex);
	if (text) return text;
	throw new NodeOperationError(context.getNode(), `The ${what} is empty`, {
		itemIndex,
		description: `Enter a text, or an expression that has a value for every item.${hintWhenEmpty}`,
	});
}
