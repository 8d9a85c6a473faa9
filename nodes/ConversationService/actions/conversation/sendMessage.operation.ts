import { conversationField } from '../../shared/locators';
import { deduplicationKeyField, optionsField } from '../../shared/fields';
import { getId } from '../../shared/ids';
import { requestOnce } from '../../api/requestOnce';
import { getText } from '../../shared/text';
import type { Operation } from '../operation';

export const sendMessage: Operation = {
	option: {
		name: 'Send Message',
		value: 'sendMessage',
		action: 'Send message',
		description: 'Send a message to the customer, and pause the agent unless told otherwise',
	},
	fields: [
		conversationField,
		{
			displayName: 'Text',
			name: 'text',
			type: 'string',
			typeOptions: { rows: 4 },
			required: true,
			default: '',
			placeholder: 'e.g. Hello! How can we help?',
			description: 'What the customer reads, up to 16,384 characters',
		},
		{
			displayName: 'Pause the Agent',
			name: 'pauseAgent',
			type: 'boolean',
			default: true,
			description:
				'Whether the agent stops answering after this message, as in a take-over. Turn it off for a notice such as a shipping confirmation, after which the agent goes on answering.',
		},
		{
			displayName:
				'With this message, control goes to your team: the agent stays silent until the conversation is handed back.',
			name: 'pauseAgentNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { pauseAgent: [true] } },
		},
		optionsField([
			deduplicationKeyField(
				'With the same key, this node sends to a conversation only once within 24 hours, even when the execution is started again. Set it from the ID of the event. To send several messages for one event, add a part that differs for each. Left empty, "Retry On Fail" is still safe.',
			),
		]),
	],
	async execute(context, itemIndex) {
		const conversationId = getId(context, 'conversation', itemIndex);
		const text = getText(context, 'text', itemIndex, 'text of the message');
		const pausesAgent = context.getNodeParameter('pauseAgent', itemIndex, true) as boolean;
		return await requestOnce(context, {
			method: 'POST',
			path: `/api/conversations/${conversationId}/messages`,
			body: pausesAgent ? { text } : { text, pause_agent: false },
			itemIndex,
		});
	},
};
