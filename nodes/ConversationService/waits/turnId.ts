import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { getId } from '../shared/ids';
import { turnOfStart } from '../shared/startingTrigger';

/** The turn that rests with the execution, when the workflow is the agent of the conversation. */
export const turnIdField: INodeProperties = {
	displayName: 'Turn ID',
	name: 'turnId',
	type: 'string',
	default: '={{ $json.turn_id }}',
	placeholder: 'e.g. turn_01JD…',
	description:
		'For a workflow that is the agent: the turn that rests while this node waits, so that its time does not run out. Left as it is, the turn that started this workflow, also when other nodes stand between the trigger and this node. Elsewhere there is none.',
};

/**
 * The turn that this execution answers.
 * @returns null when no turn started it
 */
export function findTurnId(context: IExecuteFunctions): string | null {
	const entered = String(context.getNodeParameter('turnId', 0, '') ?? '').trim();
	const started = entered ? '' : turnOfStart(context);
	return entered || started ? getId(context, 'turnId', 'agent turn', 0, started) : null;
}
