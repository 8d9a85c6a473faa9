import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { getId } from '../../shared/ids';
import { turnOfStart } from '../../shared/startingTrigger';

/** The turn that an operation works on. */
export const turnField: INodeProperties = {
	displayName: 'Turn ID',
	name: 'turnId',
	type: 'string',
	default: '={{ $json.turn_id }}',
	placeholder: 'e.g. turn_01JD…',
	description:
		'The turn to work on. Left as it is, the turn that started this workflow, also when other nodes stand between the trigger and this node.',
};

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

/**
 * The ID of the turn, ready for a path: of the field, else of the turn that started the execution.
 * @throws NodeOperationError when there is none
 */
export const getTurnId = (context: IExecuteFunctions, itemIndex: number): string =>
	getId(context, 'turnId', 'agent turn', itemIndex, turnOfStart(context));
