import type { IDataObject } from 'n8n-workflow';

interface Schema {
	type?: string | string[];
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema;
	enum?: unknown[];
	const?: unknown;
	default?: unknown;
	examples?: unknown[];
	anyOf?: Schema[];
	oneOf?: Schema[];
	allOf?: Schema[];
	$ref?: string;
	$defs?: Record<string, Schema>;
	format?: string;
	pattern?: string;
	minimum?: number;
	maximum?: number;
	exclusiveMinimum?: number;
	exclusiveMaximum?: number;
	multipleOf?: number;
	minLength?: number;
	maxLength?: number;
	minItems?: number;
}

const MAX_DEPTH = 8;

const FORMATS: Record<string, string> = {
	date: '2026-01-31',
	'date-time': '2026-01-31T10:00:00Z',
	time: '10:00:00Z',
	duration: 'P1D',
	email: 'sample@example.com',
	uri: 'https://example.com/sample',
	ipv4: '192.0.2.1',
	ipv6: '2001:db8::1',
	uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * Makes sample arguments from the schema. A text is "sample" or the first option, a number is 1 or the
 * nearest allowed number, a boolean is true. An optional text with a pattern is left out, since no
 * matching text can be guessed. If such a text is required, the user must enter real arguments.
 */
export const sampleArguments = (parameters: IDataObject): IDataObject =>
	sampleObject(parameters as unknown as Schema, parameters as unknown as Schema, 0);

function sampleObject(schema: Schema, root: Schema, depth: number): IDataObject {
	const { properties = {}, required = [] } = schema;
	const wanted = Object.entries(properties).filter(
		([name, property]) =>
			required.includes(name) ||
			(!(resolve(property, root) ?? property).pattern && depth < MAX_DEPTH),
	);
	return Object.fromEntries(
		wanted.map(([name, property]) => [name, sampleOf(property, root, depth + 1)]),
	) as IDataObject;
}

function sampleOf(schema: Schema, root: Schema, depth: number): unknown {
	const given = [schema.const, schema.default, schema.examples?.[0], schema.enum?.[0]].find(
		(value) => value !== undefined,
	);
	if (given !== undefined) return given;
	// A schema that refers to itself would never end.
	if (depth > MAX_DEPTH * 2) return null;
	const resolved = resolve(schema, root);
	if (resolved) return sampleOf(resolved, root, depth + 1);
	switch (typeOf(schema)) {
		case 'object':
			return sampleObject(schema, root, depth);
		case 'array':
			return Array.from({ length: schema.minItems ?? 1 }, () =>
				sampleOf(schema.items ?? {}, root, depth + 1),
			);
		case 'integer':
		case 'number':
			return sampleNumber(schema);
		case 'boolean':
			return true;
		case 'null':
			return null;
		default:
			return sampleText(schema);
	}
}

/** The schema that $ref, anyOf, oneOf or allOf stands for; null when there is none of them. */
function resolve(schema: Schema, root: Schema): Schema | null {
	const { $ref, anyOf, oneOf, allOf, ...rest } = schema;
	if ($ref) return root.$defs?.[/^#\/\$defs\/([^/]+)$/.exec($ref)?.[1] ?? ''] ?? null;
	const [first] = anyOf ?? oneOf ?? [];
	if (first) return { ...rest, ...first };
	return allOf ? Object.assign({}, rest, ...allOf) : null;
}

function typeOf({ type, properties }: Schema): string | undefined {
	const one = Array.isArray(type) ? (type.find((each) => each !== 'null') ?? 'null') : type;
	return one ?? (properties ? 'object' : undefined);
}

/** 1 if it is allowed, otherwise the nearest allowed number, or the middle of narrow limits. */
function sampleNumber(schema: Schema): number {
	const { minimum = -Infinity, maximum = Infinity, multipleOf } = schema;
	const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
	const isOneBetween = minimum <= 1 && 1 <= maximum && exclusiveMinimum < 1 && 1 < exclusiveMaximum;
	if (isOneBetween && !multipleOf) return 1;
	const step = multipleOf ?? 1;
	const low = Math.max(minimum, exclusiveMinimum + step);
	const high = Math.min(maximum, exclusiveMaximum - step);
	// Less than a step lies between the limits, as in 0 < x < 1.
	if (low > high) {
		return (Math.max(minimum, exclusiveMinimum) + Math.min(maximum, exclusiveMaximum)) / 2;
	}
	const nearest = Math.min(high, Math.max(low, 1));
	if (!multipleOf && typeOf(schema) !== 'integer') return nearest;
	const above = Math.ceil(nearest / step) * step;
	return above <= high ? above : Math.floor(nearest / step) * step;
}

function sampleText({ format, minLength = 0, maxLength = Infinity }: Schema): string {
	const text = (format && FORMATS[format]) || 'sample';
	return text.padEnd(minLength, 'x').slice(0, maxLength);
}
