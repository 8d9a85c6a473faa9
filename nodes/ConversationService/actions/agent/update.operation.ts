import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { linesOf } from '../../shared/lines';
import { AGENT_LANGUAGES, PAYMENT_LINK_POLICIES, withValues } from '../../shared/options';
import type { Operation } from '../operation';
import { updateAgent } from './updateAgent';

interface Changes {
	greeting?: string;
	handoverPhrases?: string | string[] | null;
	instructions?: string;
	languages?: string[];
	name?: string;
	paymentLinks?: string;
	useWebhook?: boolean;
}

export const update: Operation = {
	option: {
		name: 'Update',
		value: 'update',
		action: 'Update agent',
		description: 'Change how the agent writes and what it may do; this does not turn it on or off',
	},
	fields: [
		{
			displayName: 'Update Fields',
			name: 'updateFields',
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			options: [
				{
					displayName: 'Greeting',
					name: 'greeting',
					type: 'string',
					default: '',
					placeholder: 'e.g. Hello! This is Ana.',
					description:
						'How the first message of the agent in each conversation begins. Empty for no greeting.',
				},
				{
					displayName: 'Handover Phrases',
					name: 'handoverPhrases',
					type: 'string',
					typeOptions: { rows: 3 },
					default: '',
					placeholder: 'e.g. talk to sales',
					description:
						'What customers write who want a person, one phrase a line, at most 50. These are in addition to the built-in ones and replace those entered before.',
				},
				{
					displayName: 'Instructions',
					name: 'instructions',
					type: 'string',
					typeOptions: { rows: 5 },
					default: '',
					description:
						'What the agent does, what it knows and how it writes. A language model or a workflow reads them.',
				},
				{
					displayName: 'Languages',
					name: 'languages',
					type: 'multiOptions',
					options: AGENT_LANGUAGES,
					default: ['en'],
					description: withValues(
						'The languages that the agent answers in, the preferred one first',
						AGENT_LANGUAGES,
					),
				},
				{
					displayName: 'Let a Workflow Decide',
					name: 'useWebhook',
					type: 'boolean',
					default: true,
					description:
						'Whether the workflow that is published as the agent decides what it answers, instead of the keyword agent or the language model',
				},
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. Ana',
					description: 'What customers and your team see as the name of the agent',
				},
				{
					displayName: 'Payment Links',
					name: 'paymentLinks',
					type: 'options',
					options: PAYMENT_LINK_POLICIES,
					default: 'ask',
					description: withValues(
						'Whether the agent may create payment links',
						PAYMENT_LINK_POLICIES,
					),
				},
			],
		},
	],
	async execute(context, itemIndex) {
		const changes = context.getNodeParameter('updateFields', itemIndex, {}) as Changes;
		const body = bodyOf(context, itemIndex, changes);
		if (Object.keys(body).length > 0) return await updateAgent(context, itemIndex, body);
		throw new NodeOperationError(context.getNode(), 'There is nothing to update', {
			itemIndex,
			description: 'Add a field under "Update Fields".',
		});
	},
};

function bodyOf(
	context: IExecuteFunctions,
	itemIndex: number,
	{ handoverPhrases, paymentLinks, useWebhook, ...others }: Changes,
): IDataObject {
	const phrases = () => linesOf(context, handoverPhrases, 'Handover Phrases', itemIndex);
	return {
		...others,
		...(paymentLinks === undefined ? {} : { payment_links: paymentLinks }),
		...(useWebhook === undefined ? {} : { use_webhook: useWebhook }),
		// An expression that finds nothing gives null, and must not remove all phrases.
		...((handoverPhrases ?? null) === null ? {} : { handover_phrases: phrases() }),
	};
}
