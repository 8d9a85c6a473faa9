import type { Operation } from '../operation';
import { updateAgent } from './updateAgent';

export const turnOff: Operation = {
	option: {
		name: 'Turn Off',
		value: 'turnOff',
		action: 'Turn off agent',
		description:
			'Stop the agent for all customers; then only your team and workflows that send messages answer',
	},
	fields: [],
	execute: async (context, itemIndex) => await updateAgent(context, itemIndex, { enabled: false }),
};
