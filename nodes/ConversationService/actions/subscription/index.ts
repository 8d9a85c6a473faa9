import type { Resource } from '../operation';
import { deleteSubscription } from './delete.operation';
import { getDeliveries } from './getDeliveries.operation';
import { getEvents } from './getEvents.operation';
import { getMany } from './getMany.operation';
import { getSample } from './getSample.operation';
import { recover } from './recover.operation';
import { redeliver } from './redeliver.operation';
import { revokePreviousSecrets } from './revokePreviousSecrets.operation';
import { rotateSecret } from './rotateSecret.operation';
import { sendTestEvent } from './sendTestEvent.operation';

export const subscription: Resource = {
	option: { name: 'Subscription', value: 'subscription' },
	operations: [
		deleteSubscription,
		getDeliveries,
		getEvents,
		getMany,
		getSample,
		recover,
		redeliver,
		revokePreviousSecrets,
		rotateSecret,
		sendTestEvent,
	],
	defaultOperation: getMany,
};
