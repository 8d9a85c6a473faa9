import type { IExecuteFunctions } from 'n8n-workflow';
import { optionsField } from '../../shared/fields';
import { getText } from '../../shared/text';
import { turnField } from '../../shared/turn';
import type { Operation } from '../operation';
import { answerTurn } from './answerTurn';
import { supersededNotice } from './turnFields';

export const reply: Operation = {
	option: {
		name: 'Reply',
		value: 'reply',
		action: 'Reply in agent turn',
		description: 'Answer the customer as the agent, and end the turn',
	},
	fields: [
		turnField,
		{
			displayName: 'Text',
			name: 'text',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. {{ $json.output }}',
			description:
				'What the customer reads, up to 16,384 characters. With several items, each is a message, and the last one ends the turn.',
		},
		supersededNotice,
		optionsField([
			{
				displayName: 'More Follows',
				name: 'moreFollows',
				type: 'boolean',
				default: false,
				description:
					'Whether the turn goes on after this message, with another Reply, Hand Over, Close or End. Turn it on for a notice such as "One moment, I am looking it up".',
			},
		]),
	],
	async execute(context, itemIndex) {
		const hintWhenEmpty = ' To say nothing, use Agent Turn → End.';
		const text = getText(context, 'text', itemIndex, 'text of the reply', hintWhenEmpty);
		return await answerTurn(context, itemIndex, 'replies', {
			text,
			...(moreFollows(context, itemIndex) ? { more_follows: true } : {}),
		});
	},
};

const moreFollows = (context: IExecuteFunctions, itemIndex: number): boolean =>
	itemIndex < context.getInputData().length - 1 ||
	(context.getNodeParameter('options.moreFollows', itemIndex, false) as boolean);
