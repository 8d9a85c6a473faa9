import type { Resource } from '../operation';
import { getMany } from './getMany.operation';

export const message: Resource = {
	option: { name: 'Message', value: 'message' },
	operations: [getMany],
	defaultOperation: getMany,
};
