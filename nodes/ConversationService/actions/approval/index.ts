import type { Resource } from '../operation';
import { sendAndWait } from './sendAndWait.operation';

export const approval: Resource = {
	option: { name: 'Approval', value: 'approval' },
	operations: [sendAndWait],
	defaultOperation: sendAndWait,
};
