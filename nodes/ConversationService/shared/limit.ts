import type { IExecuteFunctions } from 'n8n-workflow';

/** The limit of a "Get Many"; undefined for all. */
export const getLimit = (context: IExecuteFunctions, itemIndex: number): number | undefined =>
	context.getNodeParameter('returnAll', itemIndex, false)
		? undefined
		: Math.max(1, context.getNodeParameter('limit', itemIndex, 50) as number);
