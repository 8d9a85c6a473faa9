import type { IDataObject } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { conversationField } from '../../shared/fields';
import { idempotencyKey } from '../../api/idempotencyKey';
import { getId } from '../../shared/ids';
import { PAYMENT_PROVIDERS } from '../../shared/options';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

/**
 * The service answers when the provider has prepared its page, or after 15 seconds.
 */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		action: 'Create a payment link',
		description:
			'Make a payment link in a conversation; send its URL with Conversation → Send Message',
	},
	fields: [
		conversationField,
		{
			displayName: 'Amount',
			name: 'amount',
			type: 'number',
			typeOptions: { minValue: 1 },
			required: true,
			default: '',
			placeholder: 'e.g. 4900',
			description:
				'In minor units of the currency, as in the events: 4900 is 49.00 USD, 4900 JPY or 4.900 KWD',
		},
		{
			displayName: 'Currency',
			name: 'currency',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. usd',
			description: 'The three letters of ISO 4217',
		},
		{
			displayName: 'Description',
			name: 'description',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. Demo, one hour',
			description: 'What the customer pays for; they read it on the payment page',
		},
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add Option',
			default: {},
			options: [
				{
					displayName: 'Deduplication Key',
					name: 'deduplicationKey',
					type: 'string',
					default: '',
					placeholder: 'e.g. {{ $json.delivery_id }}',
					description:
						'With the same key, this node makes one link in a conversation in 24 hours, also when the execution is started again. Set it from the ID of the event. Left empty, "Retry On Fail" is still safe.',
				},
				{
					displayName: 'Expires In (Minutes)',
					name: 'expiresInMinutes',
					type: 'number',
					typeOptions: { minValue: 1 },
					default: 1440,
					description:
						'How long the link can be paid: with Stripe 30 minutes to 24 hours (the default), manual up to a year (default 30 days)',
				},
				{
					displayName: 'Provider',
					name: 'provider',
					type: 'options',
					options: PAYMENT_PROVIDERS,
					default: 'stripe',
					description: 'If left out: Stripe if the service has it set up, otherwise manual',
				},
			],
		},
	],
	async execute(context, itemIndex) {
		const conversationId = getId(context, 'conversationId', 'conversation', itemIndex);
		const {
			deduplicationKey = '',
			expiresInMinutes,
			provider,
		} = context.getNodeParameter('options', itemIndex, {}) as {
			deduplicationKey?: string;
			expiresInMinutes?: number;
			provider?: string;
		};
		const amount = Number(context.getNodeParameter('amount', itemIndex));
		if (!Number.isInteger(amount) || amount < 1) {
			throw new NodeOperationError(context.getNode(), 'The amount is not a whole number from 1', {
				itemIndex,
				description:
					'Enter it in minor units of the currency, without decimals: 4900 for 49.00 USD. An expression may need {{ Math.round($json.price * 100) }}.',
			});
		}
		const body: IDataObject = {
			amount,
			currency: String(context.getNodeParameter('currency', itemIndex) ?? '').trim(),
			description: String(context.getNodeParameter('description', itemIndex) ?? ''),
			...(provider ? { provider } : {}),
			...(expiresInMinutes === undefined ? {} : { expires_in: Math.round(expiresInMinutes * 60) }),
		};
		return await requestService(context, {
			method: 'POST',
			path: `/api/conversations/${conversationId}/payment-links`,
			body,
			headers: {
				'Idempotency-Key': idempotencyKey(
					context,
					itemIndex,
					JSON.stringify(body),
					String(deduplicationKey),
				),
			},
			itemIndex,
		});
	},
};
