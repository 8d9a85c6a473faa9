import type { Resource } from '../operation';
import { close } from './close.operation';
import { findByContact } from './findByContact.operation';
import { get } from './get.operation';
import { getMany } from './getMany.operation';
import { handBack } from './handBack.operation';
import { sendAndWait } from './sendAndWait.operation';
import { sendMessage } from './sendMessage.operation';
import { setFunnelStage } from './setFunnelStage.operation';
import { takeOver } from './takeOver.operation';

export const conversation: Resource = {
	option: { name: 'Conversation', value: 'conversation' },
	operations: [
		close,
		findByContact,
		get,
		getMany,
		handBack,
		sendAndWait,
		sendMessage,
		setFunnelStage,
		takeOver,
	],
	defaultOperation: sendMessage,
};
