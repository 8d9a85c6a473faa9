import type { Resource } from '../operation';
import { get } from './get.operation';
import { turnOff } from './turnOff.operation';
import { turnOn } from './turnOn.operation';
import { update } from './update.operation';

export const agent: Resource = {
	option: { name: 'Agent', value: 'agent' },
	operations: [get, turnOff, turnOn, update],
	defaultOperation: get,
};
