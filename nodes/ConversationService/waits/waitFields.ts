import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { withValues } from '../shared/options';

const UNIT_SECONDS: Record<string, number> = { minutes: 60, hours: 3600, days: 86_400 };

const UNITS = [
	{ name: 'Days', value: 'days' },
	{ name: 'Hours', value: 'hours' },
	{ name: 'Minutes', value: 'minutes' },
];

/** How long an operation waits at most. */
export const timeLimitFields: INodeProperties[] = [
	{
		displayName: 'Wait Up To',
		name: 'timeLimit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1,
		description:
			'After this time, the workflow goes on without an answer: the output then says that the time limit was reached',
	},
	{
		displayName: 'Unit',
		name: 'timeLimitUnit',
		type: 'options',
		options: UNITS,
		default: 'days',
		description: withValues('The unit of the time limit', UNITS),
	},
];

/** What the service accepts: 365 days. */
const MAX_SECONDS = 365 * 86_400;

/** How long the operation waits at most. @throws NodeOperationError when it is not up to 365 days */
export function readTimeLimitSeconds(context: IExecuteFunctions): number {
	const amount = Number(context.getNodeParameter('timeLimit', 0, 1));
	const unit = String(context.getNodeParameter('timeLimitUnit', 0, 'days'));
	const seconds = amount * (UNIT_SECONDS[unit] ?? Number.NaN);
	if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
	throw new NodeOperationError(context.getNode(), '"Wait Up To" is not a time of up to 365 days', {
		itemIndex: 0,
		description: 'Enter a time above 0 and of at most 365 days.',
	});
}

/** @returns the time at which the wait ends, in the form of the API */
export function readExpiry(context: IExecuteFunctions): string {
	// A minute less than what the service accepts: its clock may be behind this one.
	const seconds = Math.min(readTimeLimitSeconds(context), MAX_SECONDS - 60);
	const endMs = Date.now() + Math.round(seconds * 1000);
	return new Date(endMs).toISOString().replace('Z', '+00:00');
}

/** Says while the workflow is built what `checkCanWait` refuses later: more than one item. */
export const oneItemNotice: INodeProperties = {
	displayName:
		'This node waits for one item: the whole execution rests until it goes on. For several items, put a "Loop Over Items" node with a batch size of 1 before it.',
	name: 'oneItemNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [false] } },
};
