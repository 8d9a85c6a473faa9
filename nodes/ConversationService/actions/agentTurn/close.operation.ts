import { VERDICTS, withValues } from '../../shared/options';
import { findText, getText } from '../../shared/text';
import { turnField } from '../../shared/turn';
import type { Operation } from '../operation';
import { endTurn } from './answerTurn';
import { lastTextField, supersededNotice } from './turnFields';

export const close: Operation = {
	option: {
		name: 'Close',
		value: 'close',
		action: 'Close conversation in agent turn',
		description: 'Close the conversation as the agent, and end the turn',
	},
	fields: [
		turnField,
		{
			displayName: 'Summary',
			name: 'summary',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. Asked for the opening hours',
			description: 'How the conversation ended, up to 4,000 characters',
		},
		{
			displayName: 'Verdict',
			name: 'verdict',
			type: 'options',
			options: VERDICTS,
			default: 'goal_reached',
			description: withValues('Whether the conversation reached its goal', VERDICTS),
		},
		{ ...lastTextField, placeholder: 'e.g. You are welcome. Goodbye!' },
		supersededNotice,
	],
	execute: async (context, itemIndex) =>
		await endTurn(context, itemIndex, 'close', {
			summary: getText(context, 'summary', itemIndex, 'summary'),
			verdict: context.getNodeParameter('verdict', itemIndex) as string,
			text: findText(context, 'text', itemIndex),
		}),
};
