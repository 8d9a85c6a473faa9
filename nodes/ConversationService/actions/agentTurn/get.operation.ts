import { requestService } from '../../api/transport';
import { getTurnId, turnField } from '../../shared/turn';
import type { Operation } from '../operation';
import { AGENT_TURN } from '../records';

export const get: Operation = {
	option: {
		name: 'Get',
		value: 'get',
		action: 'Get agent turn',
		description:
			'Get a turn, for example before a step that cannot be undone, to see whether the turn is still running',
	},
	record: AGENT_TURN,
	fields: [turnField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'GET',
			path: `/api/agent-turns/${getTurnId(context, itemIndex)}`,
			itemIndex,
		}),
};
