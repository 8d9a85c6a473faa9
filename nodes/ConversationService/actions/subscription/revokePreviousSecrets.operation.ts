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
			'Sign with the newest secret only, without waiting for the end of the 24 hours after a rotation. A workflow that has not been published again since the rotation refuses further events.',
	},
	fields: [subscriptionField],
	execute: async (context, itemIndex) =>
		await requestService(context, {
			method: 'POST',
			path: `/api/hooks/${getId(context, 'subscription', itemIndex)}/revoke-previous-secrets`,
			itemIndex,
		}),
};
