import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { getId } from './ids';
import { AGENT_TRIGGER, startingOutput } from './startingTrigger';

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

/** The turn that rests while the execution waits, when the workflow is the agent. */
export const restingTurnField: INodeProperties = {
	...turnField,
	description:
		'For a workflow that is the agent: the turn that rests while this node waits, so that its time does not run out. Left as it is, the turn that started this workflow, also when other nodes stand between the trigger and this node. Other workflows have no turn.',
};

/**
 * The ID of the turn, safe for a path: the one in the field, or else that of the turn that started
 * the execution.
 * @throws NodeOperationError when there is none
 */
export const getTurnId = (context: IExecuteFunctions, itemIndex: number): string =>
	getId(context, 'agent turn', itemIndex, startingTurnId(context));

/**
 * The ID of the turn that the first item names, or else of the turn that started the execution.
 * @returns null when there is none
 * @throws NodeOperationError when the field holds the ID of something else
 */
export function findTurnId(context: IExecuteFunctions): string | null {
	const entered = String(context.getNodeParameter('turnId', 0, '') ?? '').trim();
	return entered || startingTurnId(context) ? getTurnId(context, 0) : null;
}

/** The turn that started the execution, if the workflow is the agent; otherwise an empty text. */
function startingTurnId(context: IExecuteFunctions): string {
	const { turn_id: turnId } = startingOutput(context, AGENT_TRIGGER);
	return typeof turnId === 'string' ? turnId : '';
}
