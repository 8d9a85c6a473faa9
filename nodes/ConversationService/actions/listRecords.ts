import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { readList } from '../api/transport';
import { readInstant } from '../shared/instant';

/** Reads the records of a "Get Many" page by page: those that match its filters, up to its limit. */
export const listRecords = <T extends IDataObject = IDataObject>(
	context: IExecuteFunctions,
	itemIndex: number,
	path: string,
): AsyncIterable<T> =>
	readList<T>(context, {
		path,
		query: readFilters(context, itemIndex),
		limit: readLimit(context, itemIndex),
		itemIndex,
	});

/** @returns undefined when all records are wanted */
const readLimit = (context: IExecuteFunctions, itemIndex: number): number | undefined =>
	context.getNodeParameter('returnAll', itemIndex, false)
		? undefined
		: Math.max(1, Math.floor(Number(context.getNodeParameter('limit', itemIndex, 50))) || 1);

/** Leaves out filters that were added but left empty. Names ending in `since` or `before` are times. */
function readFilters(context: IExecuteFunctions, itemIndex: number): IDataObject {
	const filters: IDataObject = {};
	for (const name of Object.keys(context.getNodeParameter('filters', itemIndex, {}) as object)) {
		const value: unknown = context.getNodeParameter(`filters.${name}`, itemIndex, '', {
			extractValue: true,
		});
		const text = String(value ?? '').trim();
		if (!text) continue;
		filters[name] = /(since|before)$/.test(name) ? readInstant(context, value, itemIndex) : text;
	}
	return filters;
}
