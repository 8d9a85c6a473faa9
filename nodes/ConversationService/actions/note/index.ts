import type { Resource } from '../operation';
import { create } from './create.operation';

export const note: Resource = {
	option: { name: 'Note', value: 'note' },
	operations: [create],
	defaultOperation: create,
};
