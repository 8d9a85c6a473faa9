import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { turnField } from '../../shared/turn';
import type { Operation } from '../operation';
import { answerTurn, readText } from './answerTurn';
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
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: [
				{
					displayName: 'More Follows',
					name: 'moreFollows',
					type: 'boolean',
					default: false,
					description:
						'Whether the turn goes on after this message, with another Reply, Hand Over, Close or End. Turn it on for a notice such as "One moment, I am looking it up".',
				},
			],
		},
	],
	async execute(context, itemIndex) {
		const text = readText(context, 'text', itemIndex);
		if (!text) {
			throw new NodeOperationError(context.getNode(), 'The text of the reply is empty', {
				itemIndex,
				description:
					'Enter a text, or an expression that has a value for every item. To say nothing, use Agent Turn → End.',
			});
		}
		return await answerTurn(context, itemIndex, 'replies', {
			text,
			...(moreFollows(context, itemIndex) ? { more_follows: true } : {}),
		});
	},
};

const moreFollows = (context: IExecuteFunctions, itemIndex: number): boolean =>
	itemIndex < context.getInputData().length - 1 ||
	(context.getNodeParameter('options.moreFollows', itemIndex, false) as boolean);
