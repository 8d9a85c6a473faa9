import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

/** Reads the limit of a "Get Many". @returns undefined when all items are wanted */
export const getLimit = (context: IExecuteFunctions, itemIndex: number): number | undefined =>
	context.getNodeParameter('returnAll', itemIndex, false)
		? undefined
		: Math.max(1, context.getNodeParameter('limit', itemIndex, 50) as number);

/**
 * Reads the filters of a "Get Many". A filter that was added but left empty does not count.
 */
export const getFilters = (context: IExecuteFunctions, itemIndex: number): IDataObject =>
	Object.fromEntries(
		Object.entries(context.getNodeParameter('filters', itemIndex, {}) as IDataObject).filter(
			([, value]) => value !== '',
		),
	);
