import type { IDataObject } from 'n8n-workflow';
import { readAmount } from '../../shared/amount';
import { conversationField } from '../../shared/locators';
import { deduplicationKeyField, optionsField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { PAYMENT_PROVIDERS, withValues } from '../../shared/options';
import { requestOnce } from '../../api/requestOnce';
import { findText } from '../../shared/text';
import type { Operation } from '../operation';
import { PAYMENT_LINK } from '../records';

/** The service answers when the provider has prepared its page, or after 15 seconds. */
export const create: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		action: 'Create payment link',
		description:
			'Make a payment link in a conversation; send its URL with Conversation → Send Message',
	},
	record: PAYMENT_LINK,
	fields: [
		conversationField,
		{
			displayName: 'Amount In',
			name: 'amountUnit',
			type: 'options',
			options: [
				{
					name: 'Decimal Amount',
					value: 'decimal',
					description: 'As people write it: 49.00 USD, 4900 JPY, 4.900 KWD',
				},
				{
					name: 'Minor Units',
					value: 'minor',
					description: 'As in the events: 4900 for 49.00 USD, for 4900 JPY and for 4.900 KWD',
				},
			],
			default: 'decimal',
			description:
				'How the amount is written: decimal (49.00) or minor, the smallest unit of the currency (4900)',
		},
		{
			displayName: 'Amount',
			name: 'amount',
			type: 'number',
			typeOptions: { minValue: 0 },
			required: true,
			default: '',
			placeholder: 'e.g. 49.00',
			hint: 'With the decimals of the currency: 49.00 USD, 4900 JPY, 4.900 KWD',
			description:
				'Decimal amount in the main unit of the currency, for example 49.00 for 49 US dollars. At most two decimals for most currencies, none for JPY and KRW, three for KWD and BHD.',
			displayOptions: { show: { amountUnit: ['decimal'] } },
		},
		{
			displayName: 'Amount',
			name: 'amount',
			type: 'number',
			typeOptions: { minValue: 1, numberPrecision: 0 },
			required: true,
			default: '',
			placeholder: 'e.g. 4900',
			hint: 'In minor units: 4900 is 49.00 USD, 4900 JPY or 4.900 KWD',
			description:
				'Whole number of minor units of the currency, for example 4900 for 49.00 US dollars or for 4900 Japanese yen',
			displayOptions: { show: { amountUnit: ['minor'] } },
		},
		{
			displayName: 'Currency',
			name: 'currency',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. USD',
			description: 'The three letters of ISO 4217, for example USD, EUR or JPY',
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
		optionsField([
			deduplicationKeyField(
				'With the same key, this node makes one link in a conversation in 24 hours, also when the execution is started again. Set it from the ID of the event. Left empty, "Retry On Fail" is still safe.',
			),
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
				description: withValues(
					'Who takes the payment. If left out: Stripe if the service has it set up, otherwise manual',
					PAYMENT_PROVIDERS,
				),
			},
		]),
	],
	async execute(context, itemIndex) {
		const conversationId = getId(context, 'conversation', itemIndex);
		const { expiresInMinutes, provider } = context.getNodeParameter('options', itemIndex, {}) as {
			expiresInMinutes?: number;
			provider?: string;
		};
		const currency = String(context.getNodeParameter('currency', itemIndex) ?? '').trim();
		const body: IDataObject = {
			amount: readAmount(context, itemIndex, {
				value: context.getNodeParameter('amount', itemIndex),
				unit: context.getNodeParameter('amountUnit', itemIndex, 'decimal') as string,
				currency,
			}),
			currency,
			description: findText(context, 'description', itemIndex) ?? '',
			...(provider ? { provider } : {}),
			...(expiresInMinutes === undefined ? {} : { expires_in: Math.round(expiresInMinutes * 60) }),
		};
		return await requestOnce(context, {
			method: 'POST',
			path: `/api/conversations/${conversationId}/payment-links`,
			body,
			itemIndex,
		});
	},
};
