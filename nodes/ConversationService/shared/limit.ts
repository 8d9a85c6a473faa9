import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

/** The limit of a "Get Many"; undefined for all. */
export const getLimit = (context: IExecuteFunctions, itemIndex: number): number | undefined =>
	context.getNodeParameter('returnAll', itemIndex, false)
		? undefined
		: Math.max(1, context.getNodeParameter('limit', itemIndex, 50) as number);

/**
 * The filters of a "Get Many" that have a value: one that was added and left empty filters nothing.
 */
export const getFilters = (context: IExecuteFunctions, itemIndex: number): IDataObject =>
	Object.fromEntries(
		Object.entries(context.getNodeParameter('filters', itemIndex, {}) as IDataObject).filter(
			([, value]) => value !== '',
		),
	);
