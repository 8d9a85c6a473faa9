import { filters, returnAllFields } from '../../shared/fields';
import { contactFilter } from '../../shared/locators';
import { CHANNELS, FUNNEL_STAGES, STATUSES, withValues } from '../../shared/options';
import { listRecords } from '../listRecords';
import type { Operation } from '../operation';
import { CONVERSATION } from '../records';

export const getMany: Operation = {
	option: {
		name: 'Get Many',
		value: 'getAll',
		action: 'Get many conversations',
		description: 'Get many conversations, newest first',
	},
	record: CONVERSATION,
	fields: [
		...returnAllFields,
		filters([
			{
				displayName: 'Channel',
				name: 'channel',
				type: 'options',
				options: CHANNELS,
				default: 'web_chat',
				description: withValues('Only conversations on this channel', CHANNELS),
			},
			contactFilter,
			{
				displayName: 'Contact Text',
				name: 'q',
				type: 'string',
				default: '',
				placeholder: 'e.g. Maria',
				description:
					'Only conversations whose contact has this text in the name, or has exactly this phone number or email address',
			},
			{
				displayName: 'Created After',
				name: 'created_since',
				type: 'dateTime',
				default: '',
				description:
					'Only conversations that began at this time or later. A time without an offset is in the time zone of the workflow.',
			},
			{
				displayName: 'Created Before',
				name: 'created_before',
				type: 'dateTime',
				default: '',
				description:
					'Only conversations that began before this time. A time without an offset is in the time zone of the workflow.',
			},
			{
				displayName: 'Funnel Stage',
				name: 'funnel_stage',
				type: 'options',
				options: FUNNEL_STAGES,
				default: 'qualified',
				description: withValues('Only conversations at this stage', FUNNEL_STAGES),
			},
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				options: STATUSES,
				default: 'ai_active',
				description: withValues('Only conversations with this status', STATUSES),
			},
			{
				displayName: 'Updated After',
				name: 'updated_since',
				type: 'dateTime',
				default: '',
				description:
					'Only conversations in which something happened at this time or later. A time without an offset is in the time zone of the workflow.',
			},
		]),
	],
	execute: (context, itemIndex) => listRecords(context, itemIndex, '/api/conversations'),
};
