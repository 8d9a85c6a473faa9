import { HANDOVER_REASONS, withValues } from '../../shared/options';
import { findText } from '../../shared/text';
import { turnField } from '../../shared/turn';
import type { Operation } from '../operation';
import { endTurn } from './answerTurn';
import { lastTextField, supersededNotice } from './turnFields';

export const handOver: Operation = {
	option: {
		name: 'Hand Over',
		value: 'handOver',
		action: 'Hand over in agent turn',
		description: 'Ask for a person and end the turn; the agent is silent until the hand-back',
	},
	fields: [
		turnField,
		{
			displayName: 'Reason',
			name: 'reason',
			type: 'options',
			options: HANDOVER_REASONS,
			default: 'missing_knowledge',
			description: withValues('Why a person is needed', HANDOVER_REASONS),
		},
		{
			displayName: 'Note',
			name: 'note',
			type: 'string',
			typeOptions: { rows: 2 },
			default: '',
			placeholder: 'e.g. Wants a refund for an order from last year',
			description:
				'What your team should know, up to 1,000 characters. The customer never sees it.',
		},
		{
			...lastTextField,
			description:
				'What the customer reads before a person answers. Left empty, the service says in a sentence of its own that a person will answer, unless this turn has sent a message already.',
		},
		supersededNotice,
	],
	execute: async (context, itemIndex) =>
		await endTurn(context, itemIndex, 'hand-over', {
			reason: context.getNodeParameter('reason', itemIndex, 'missing_knowledge') as string,
			note: findText(context, 'note', itemIndex),
			text: findText(context, 'text', itemIndex),
		}),
};
