import type { Resource } from '../operation';
import { close } from './close.operation';
import { end } from './end.operation';
import { get } from './get.operation';
import { getMany } from './getMany.operation';
import { handOver } from './handOver.operation';
import { reply } from './reply.operation';

export const agentTurn: Resource = {
	option: { name: 'Agent Turn', value: 'agentTurn' },
	operations: [close, end, get, getMany, handOver, reply],
	defaultOperation: reply,
};
