import { subscriptionField } from '../../shared/locators';
import { getId } from '../../shared/ids';
import { requestService } from '../../api/transport';
import type { Operation } from '../operation';

export const revokePreviousSecrets: Operation = {
	option: {
		name: 'Revoke Previous Secrets',
		value: 'revokePreviousSecrets',
		action: 'Revoke previous secrets of subscription',
		description:
			'End the overlap of 24 hours after a rotation at once: only the newest secret signs. A workflow that was not published again since the rotation refuses further events.',
	},
	fields: [subscriptionField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}/revoke-previous-secrets`,
			itemIndex,
		}),
};
