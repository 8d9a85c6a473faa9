import { toolField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';
import { TOOL } from '../records';

export const pause: Operation = {
	option: {
		name: 'Pause',
		value: 'pause',
		action: 'Pause tool',
		description: 'Stop the agent from using a tool, and cancel the calls that wait for approval',
	},
	record: TOOL,
	fields: [toolField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/tools/${getId(context, 'tool', itemIndex)}/pause`,
			itemIndex,
		}),
};
