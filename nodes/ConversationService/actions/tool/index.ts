import type { Resource } from '../operation';
import { get } from './get.operation';
import { getMany } from './getMany.operation';
import { goLive } from './goLive.operation';
import { pause } from './pause.operation';
import { test } from './test.operation';

export const tool: Resource = {
	option: { name: 'Tool', value: 'tool' },
	operations: [get, getMany, goLive, pause, test],
	defaultOperation: get,
};
