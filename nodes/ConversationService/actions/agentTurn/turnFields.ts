import type { INodeProperties } from 'n8n-workflow';

/** What the customer reads before the turn ends. */
export const lastTextField: INodeProperties = {
	displayName: 'Text',
	name: 'text',
	type: 'string',
	typeOptions: { rows: 2 },
	default: '',
	placeholder: 'e.g. A colleague will answer you in a moment',
	description: 'What the customer reads first. Left empty, nothing is sent.',
};

/** What happens when the turn was superseded, and how a workflow can go on then. */
export const supersededNotice: INodeProperties = {
	displayName:
		'If a person took over or the customer wrote again, nothing is sent and this node fails (turn_superseded). Use its error output: Settings → On Error.',
	name: 'supersededNotice',
	type: 'notice',
	default: '',
};
