import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { withArgs } from '../../workflowTool/args';
import { toolCallField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { findText } from '../../shared/text';
import { requestOnce } from '../../api/requestOnce';
import type { ToolCallRecord } from '../../api/types';

/** The fields of both decisions about a call that waits for approval. */
export const decisionFields: INodeProperties[] = [
	toolCallField,
	{
		displayName: 'Note',
		name: 'note',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		placeholder: 'e.g. Checked with the warehouse',
		description: 'Why, for the record, up to 1,000 characters; the customer does not see it',
	},
];

/** Approves or rejects a call. Only the first decision counts; a second one fails. */
export async function decide(
	context: IExecuteFunctions,
	itemIndex: number,
	decision: 'approve' | 'reject',
): Promise<IDataObject> {
	const id = getId(context, 'tool call', itemIndex);
	const note = findText(context, 'note', itemIndex)?.trim();
	const call: ToolCallRecord = await requestOnce(context, {
		method: 'POST',
		path: `/api/tool-calls/${id}/${decision}`,
		body: note ? { note } : {},
		itemIndex,
	});
	return withArgs(call);
}
