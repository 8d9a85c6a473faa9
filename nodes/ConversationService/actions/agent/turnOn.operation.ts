import type { Operation } from '../operation';
import { updateAgent } from './updateAgent';

export const turnOn: Operation = {
	option: {
		name: 'Turn On',
		value: 'turnOn',
		action: 'Turn on agent',
		description: 'Let the agent answer what customers write from now on',
	},
	fields: [],
	execute: async (context, itemIndex) => await updateAgent(context, itemIndex, { enabled: true }),
};
