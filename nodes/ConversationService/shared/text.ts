import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** Reads the text of a field, blanks around it included. @returns undefined when it is blank */
export function findText(
	context: IExecuteFunctions,
	field: string,
	itemIndex: number,
): string | undefined {
	const text = String(context.getNodeParameter(field, itemIndex, '') ?? '');
	return text.trim() ? text : undefined;
}

/**
 * Reads the text of a field, blanks around it included.
 * @param what as in "text of the note"
 * @param orElse what to do to send no text
 * @throws NodeOperationError when it is blank
 */
export function getText(
	context: IExecuteFunctions,
	field: string,
	itemIndex: number,
	what: string,
	orElse = '',
): string {
	const text = findText(context, field, itemIndex);
	if (text) return text;
	throw new NodeOperationError(context.getNode(), `The ${what} is empty`, {
		itemIndex,
		description: `Enter a text, or an expression that has a value for every item.${orElse}`,
	});
}
