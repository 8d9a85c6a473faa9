import type { Operation } from '../operation';
import { updateAgent } from './updateAgent';

export const turnOff: Operation = {
	option: {
		name: 'Turn Off',
		value: 'turnOff',
		action: 'Turn off agent',
		description: 'Stop the agent for all customers; only workflows and people answer then',
	},
	fields: [],
	execute: async (context, itemIndex) => await updateAgent(context, itemIndex, { enabled: false }),
};
