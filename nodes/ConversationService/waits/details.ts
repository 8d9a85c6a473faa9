import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { readJsonObject } from '../shared/jsonFields';

/**
 * Reads what is shown beside the question, from the rows of the panel or from an object.
 * @throws NodeOperationError when the JSON is not an object
 */
export function readDetails(context: IExecuteFunctions): IDataObject {
	if (context.getNodeParameter('specifyDetails', 0, 'fields') === 'json') {
		return readJsonObject(context, 'details', 'Details', 0) ?? {};
	}
	const rows = context.getNodeParameter('detailFields.values', 0, []) as IDataObject[];
	return Object.fromEntries(
		rows
			.map(({ label, value }) => [String(label ?? '').trim(), value] as const)
			.filter(([label]) => label !== ''),
	);
}
