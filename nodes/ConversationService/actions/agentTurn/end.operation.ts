import { turnField } from '../../shared/turn';
import type { Operation } from '../operation';
import { endTurn } from './answerTurn';
import { supersededNotice } from './turnFields';

export const end: Operation = {
	option: {
		name: 'End',
		value: 'end',
		action: 'End agent turn',
		description: 'End the turn without another message',
	},
	fields: [turnField, supersededNotice],
	execute: async (context, itemIndex) => await endTurn(context, itemIndex, 'end', {}),
};
