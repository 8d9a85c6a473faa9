import type {
	IDataObject,
	IDisplayOptions,
	IExecuteFunctions,
	INodeProperties,
} from 'n8n-workflow';

/**
 * A record with more than ten fields, and its simplified output.
 * @see https://docs.n8n.io/integrations/creating-nodes/build/reference/ux-guidelines/
 */
export interface RecordShape {
	/** The field that holds the record's ID. It is always returned. */
	id: string;
	/** All fields of the record. */
	fields: readonly string[];
	/** At most ten fields of the simplified output, each with its path in the record. */
	simplified: Readonly<Record<string, string>>;
}

const shownIfTool = (isTool: boolean): IDisplayOptions => ({ show: { '@tool': [isTool] } });

/** "Simplify", or "Output" where the node is a tool of an AI agent. */
export const describeOutput = ({ id, fields }: RecordShape): INodeProperties[] => [
	{
		displayName: 'Simplify',
		name: 'simplify',
		type: 'boolean',
		default: true,
		displayOptions: shownIfTool(false),
		description: 'Whether to return a simplified version of the response instead of the raw data',
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Raw', value: 'raw', description: 'All fields of the record' },
			{
				name: 'Selected Fields',
				value: 'selected',
				description: 'Only the fields that you choose, and the ID',
			},
			{ name: 'Simplified', value: 'simplified', description: 'The most useful fields' },
		],
		default: 'simplified',
		displayOptions: shownIfTool(true),
		description: 'Which part of each record the AI agent gets',
	},
	{
		displayName: 'Fields',
		name: 'outputFields',
		type: 'multiOptions',
		noDataExpression: true,
		options: fields
			.filter((field) => field !== id)
			.map((field) => ({ name: toTitle(field), value: field }))
			.sort((a, b) => a.name.localeCompare(b.name)),
		default: [],
		displayOptions: { show: { ...shownIfTool(true).show, output: ['selected'] } },
		description: 'The fields that the AI agent gets in addition to the ID',
	},
];

/**
 * @param shape undefined for a record of up to ten fields, which is returned whole
 * @returns a function that reduces a record to the output that the user has chosen
 */
export function readOutput(
	context: IExecuteFunctions,
	itemIndex: number,
	shape: RecordShape | undefined,
): (record: IDataObject) => IDataObject {
	if (!shape) return (record) => record;
	// A tool has "Output", any other node has "Simplify".
	const simplify = context.getNodeParameter('simplify', itemIndex, true);
	const output = context.getNodeParameter(
		'output',
		itemIndex,
		simplify ? 'simplified' : 'raw',
	) as string;
	if (output === 'simplified') return (record) => pick(record, Object.entries(shape.simplified));
	if (output !== 'selected') return (record) => record;
	const chosen = context.getNodeParameter('outputFields', itemIndex, []) as string[];
	return (record) =>
		pick(
			record,
			[shape.id, ...chosen].map((field) => [field, field]),
		);
}

const pick = (record: IDataObject, fields: Array<[string, string]>): IDataObject =>
	Object.fromEntries(fields.map(([name, path]) => [name, read(record, path)]));

function read(record: IDataObject, path: string) {
	let value: unknown = record;
	for (const key of path.split('.')) value = (value as IDataObject | null | undefined)?.[key];
	return (value ?? null) as IDataObject[string];
}

const ACRONYMS: readonly string[] = ['id', 'url', 'http'];

/** `contact_name` → `Contact Name`, `target_url` → `Target URL` */
const toTitle = (field: string): string => field.split('_').map(titleWord).join(' ');

const titleWord = (word: string): string =>
	ACRONYMS.includes(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
