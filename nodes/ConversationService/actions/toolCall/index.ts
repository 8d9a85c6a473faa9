import type { Resource } from '../operation';
import { approve } from './approve.operation';
import { get } from './get.operation';
import { getMany } from './getMany.operation';
import { reject } from './reject.operation';
import { respond } from './respond.operation';

export const toolCall: Resource = {
	option: { name: 'Tool Call', value: 'toolCall' },
	operations: [approve, get, getMany, reject, respond],
	defaultOperation: respond,
};
