import type { INodeProperties } from 'n8n-workflow';

/** How far the time of a signature may differ from the clock. Both triggers have this option. */
export const toleranceField: INodeProperties = {
	displayName: 'Tolerance (Seconds)',
	name: 'tolerance',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 300,
	description:
		'How far the time of a signature may differ from the clock of n8n, in either direction. Calls beyond that are refused.',
};

export const returnAllFields: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	},
];
