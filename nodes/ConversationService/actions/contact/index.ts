import type { Resource } from '../operation';
import { find } from './find.operation';
import { get } from './get.operation';
import { getMany } from './getMany.operation';

export const contact: Resource = {
	option: { name: 'Contact', value: 'contact' },
	operations: [find, get, getMany],
	defaultOperation: get,
};
