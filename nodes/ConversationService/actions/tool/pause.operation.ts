import { toolField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const pause: Operation = {
	option: {
		name: 'Pause',
		value: 'pause',
		action: 'Pause a tool',
		description: 'Stop the agent from using a tool, and cancel the calls that wait for approval',
	},
	fields: [toolField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/tools/${getId(context, 'toolId', 'tool', itemIndex)}/pause`,
			itemIndex,
		}),
};
