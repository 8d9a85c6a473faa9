import type { IDataObject, IExecuteFunctions, INodePropertyOptions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { optionsField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { linesOf } from '../../shared/lines';
import { conversationField } from '../../shared/locators';
import { withValues } from '../../shared/options';
import { findText, getText } from '../../shared/text';
import { findTurnId, restingTurnField } from '../../shared/turn';
import { checkCanWait } from '../../waits/checkCanWait';
import { SEND_AND_WAIT } from '../../waits/restartWebhooks';
import { startWait } from '../../waits/startWait';
import { oneItemNotice, readTimeLimitSeconds, timeLimitFields } from '../../waits/waitFields';
import type { Operation } from '../operation';

const REPLY_TYPES: INodePropertyOptions[] = [
	{ name: 'Any Reply', value: 'any' },
	{
		name: 'Choice',
		value: 'choice',
		description: 'Shown as buttons; a typed choice or its number counts as well',
	},
	{ name: 'Date', value: 'date', description: 'Returned as 2026-12-31' },
	{ name: 'Email Address', value: 'email' },
	{ name: 'Number', value: 'number' },
];

export const sendAndWait: Operation = {
	option: {
		name: 'Send and Wait for Reply',
		value: SEND_AND_WAIT,
		action: 'Send message and wait for reply',
		description: 'Send a message to the customer, and go on with what they reply',
	},
	fields: [
		oneItemNotice,
		{
			...conversationField,
			description:
				'The conversation whose customer is asked. The default takes it from the item: after a trigger of Conversation Service, or after an action that returns a conversation. In an agent workflow, an item that names no conversation, such as the output of an AI Agent node, means the conversation of the turn.',
		},
		{
			displayName: 'Text',
			name: 'text',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. What is your order number?',
			description:
				'What the customer reads, up to 4,096 characters. The agent stays in control of the conversation, and leaves the reply to this workflow.',
		},
		{
			displayName: 'Accept',
			name: 'accept',
			type: 'options',
			options: REPLY_TYPES,
			default: 'any',
			description: withValues(
				'Which reply counts. After any other, the question is asked again until all attempts are used',
				REPLY_TYPES,
			),
		},
		{
			displayName: 'Choices',
			name: 'choices',
			type: 'string',
			typeOptions: { rows: 3 },
			required: true,
			default: '',
			placeholder: 'e.g. Monday',
			displayOptions: { show: { accept: ['choice'] } },
			description:
				'One choice on each line, or an expression with a list of texts: 1 to 10 choices of up to 100 characters',
		},
		...timeLimitFields,
		restingTurnField,
		optionsField([
			{
				displayName: 'Attempts',
				name: 'maxAttempts',
				type: 'number',
				typeOptions: { minValue: 1, maxValue: 10 },
				default: 3,
				description:
					'How many replies are looked at. When none of them counts, the workflow goes on with the status not_accepted. With 3, the question is asked again twice.',
			},
			{
				displayName: 'Remind After (Minutes)',
				name: 'remindAfterMinutes',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 60,
				description:
					'When to send the question once more if the customer has not replied. Less than "Wait Up To". WhatsApp takes no reminder later than 24 hours after the customer last wrote.',
			},
			{
				displayName: 'Reminder Text',
				name: 'reminderText',
				type: 'string',
				default: '',
				placeholder: 'e.g. Are you still there? We need your order number to go on.',
				description:
					'What the customer reads as a reminder, if "Remind After" is set. Left empty, it is the question.',
			},
			{
				displayName: 'Retry Text',
				name: 'retryText',
				type: 'string',
				default: '',
				placeholder: 'e.g. Please send an e-mail address, such as ana@example.com.',
				description:
					'What the customer reads after a reply that does not count. Left empty, it is the question.',
			},
		]),
	],
	async executeOnce(context) {
		checkCanWait(context);
		return await startWait(context, { kind: 'reply', ...readQuestion(context) });
	},
};

function readQuestion(context: IExecuteFunctions): IDataObject {
	const conversationId = findConversationId(context);
	const message = getText(context, 'text', 0, 'text of the message');
	const type = context.getNodeParameter('accept', 0, 'any') as string;
	const options = context.getNodeParameter('options', 0, {}) as {
		maxAttempts?: number;
		remindAfterMinutes?: number;
	};
	const retryText = findText(context, 'options.retryText', 0, 'The retry text');
	const reminderText = findText(context, 'options.reminderText', 0, 'The reminder text');
	return {
		...(conversationId ? { conversation_id: conversationId } : {}),
		message,
		accept: type === 'choice' ? { type, choices: readChoices(context) } : { type },
		...(retryText ? { retry_message: retryText } : {}),
		...(options.maxAttempts ? { max_attempts: options.maxAttempts } : {}),
		...readReminder(context, options.remindAfterMinutes),
		...(reminderText ? { remind_message: reminderText } : {}),
	};
}

/**
 * Reads the ID of the conversation. An item without one, such as that of an AI Agent, means the
 * conversation of the turn, which the service knows.
 * @returns null for such an item
 * @throws NodeOperationError when there is neither a conversation nor a turn
 */
function findConversationId(context: IExecuteFunctions): string | null {
	const value: unknown = context.getNodeParameter('conversationId', 0, '', { extractValue: true });
	const isEmpty = String(value ?? '').trim() === '';
	if (isEmpty && findTurnId(context) !== null) return null;
	return getId(context, 'conversation', 0);
}

/** @throws NodeOperationError for a reminder that would come when the wait is over */
function readReminder(context: IExecuteFunctions, minutes: number | undefined): IDataObject {
	if (!minutes) return {};
	const seconds = Math.round(minutes * 60);
	if (seconds < readTimeLimitSeconds(context)) return { remind_after: seconds };
	throw new NodeOperationError(
		context.getNode(),
		'"Remind After" is not shorter than "Wait Up To", so the customer would never be reminded',
		{
			itemIndex: 0,
			description:
				'Enter fewer minutes under "Remind After" in the options, or a longer time under "Wait Up To".',
		},
	);
}

function readChoices(context: IExecuteFunctions): string[] {
	const choices = linesOf(context, context.getNodeParameter('choices', 0, ''), 'Choices');
	if (choices.length > 0) return choices;
	throw new NodeOperationError(context.getNode(), 'There are no choices', {
		itemIndex: 0,
		description: 'Enter one choice on each line, or an expression with a list of texts.',
	});
}
