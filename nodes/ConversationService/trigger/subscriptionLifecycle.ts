import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, sleep } from 'n8n-workflow';
import { errorCode, existingId } from '../api/errors';
import { requestDeletion, requestList, requestService } from '../api/transport';
import type { CreatedSubscription, SubscriptionRecord } from '../api/types';
import { getAddress, getInstance } from '../shared/owner';
import { STORED_AFTER_MS, tryTo } from '../shared/publication';
import { readWanted } from './wantedSubscription';

/** What n8n stores in the workflow's static data. */
export interface StoredSubscription {
	id: string;
	revision: number;
	secret: string;
	/** What the subscription was created with, as JSON. */
	wanted: string;
}

/** A subscription at one of its revisions; without a `revision`, at any of them. */
type Revision = { id: string; revision?: number };

/**
 * Whether this address has the subscription that the trigger needs. Removes all other subscriptions
 * of this address, which a crash or a failed deletion has left. A revision other than the stored
 * one counts as another subscription, since its secret is not known here.
 */
export async function hasSubscription(context: IHookFunctions): Promise<boolean> {
	const stored = readStored(context.getWorkflowStaticData('node'));
	const wanted = JSON.stringify(readWanted(context));
	const here = await findSubscriptionsHere(context);
	const known = here.find(
		({ id, revision }) =>
			id === stored?.id && revision === stored.revision && wanted === stored.wanted,
	);
	for (const each of here) if (each !== known) await removeSubscription(context, each);
	return known !== undefined;
}

/** Subscribes this address to the chosen events, and stores id and secret. */
export async function createSubscription(context: IHookFunctions): Promise<void> {
	const wanted = readWanted(context);
	const { id, revision, secret } = await replaceSubscription(context, wanted);
	const staticData = context.getWorkflowStaticData('node');
	staticData.subscription = { id, revision, secret, wanted: JSON.stringify(wanted) };
	// Stored, since n8n does not say that this was a test when it stops listening.
	staticData.isTest = context.getMode() === 'manual';
}

/**
 * Removes the subscriptions of this address: the stored one and those found by target_url. A missing
 * one is no error. Never throws: n8n would try again, possibly after the workflow was published
 * again, and remove the new subscription.
 * @returns whether all are gone; the next activation removes the rest
 */
export async function deleteSubscriptions(context: IHookFunctions): Promise<boolean> {
	const staticData = context.getWorkflowStaticData('node');
	const stored = readStored(staticData);
	delete staticData.subscription;
	const tryToRemove = async (action: () => Promise<void>) =>
		await tryTo(context, 'remove the subscription', action);
	let here: Revision[] = [];
	let isComplete = await tryToRemove(async () => {
		here = await findSubscriptionsHere(context);
	});
	if (stored && here.every(({ id }) => id !== stored.id)) here = [stored, ...here];
	for (const each of here) {
		const isRemoved = await tryToRemove(() => removeSubscription(context, each));
		isComplete &&= isRemoved;
	}
	return isComplete;
}

/**
 * Asks the service for a sample of the first chosen event, after a short delay: the trigger can verify
 * the event only once n8n has stored the secret.
 */
export async function sendSampleSoon(context: IHookFunctions): Promise<void> {
	const stored = readStored(context.getWorkflowStaticData('node'));
	if (!stored) return;
	await sleep(STORED_AFTER_MS);
	try {
		await requestService(context, { method: 'POST', path: `/api/hooks/${stored.id}/test` });
	} catch (error) {
		// Listening may have stopped by now; a real event still arrives.
		context.logger.warn('No sample event was sent', { error: (error as Error).message });
	}
}

export const readStored = (staticData: IDataObject): StoredSubscription | undefined =>
	staticData.subscription as unknown as StoredSubscription | undefined;

/** The subscriptions of this address, except those that another n8n has published under it. */
async function findSubscriptionsHere(context: IHookFunctions): Promise<SubscriptionRecord[]> {
	const address = getAddress(context);
	const all = await requestList<SubscriptionRecord>(context, { path: '/api/hooks' });
	const instance = context.getInstanceId();
	return all.filter(
		({ target_url: targetUrl, owner }) =>
			targetUrl === address && (owner?.instance_id ?? instance) === instance,
	);
}

/** Replaces an earlier subscription of this address, since its secret was shown only once. */
async function replaceSubscription(
	context: IHookFunctions,
	wanted: IDataObject,
): Promise<CreatedSubscription> {
	try {
		return await subscribe(context, wanted);
	} catch (error) {
		const existing = errorCode(error) === 'subscription_exists' ? existingId(error) : undefined;
		if (!existing) throw new NodeApiError(context.getNode(), error as JsonObject);
		await removeSubscription(context, { id: existing });
		return await subscribe(context, wanted);
	}
}

const subscribe = async (
	context: IHookFunctions,
	wanted: IDataObject,
): Promise<CreatedSubscription> =>
	await requestService(context, {
		method: 'POST',
		path: '/api/hooks',
		body: {
			...wanted,
			take_over: context.getNodeParameter('options.takeOver', false) as boolean,
		},
	});

const isTest = (context: IHookFunctions): boolean =>
	context.getMode() === 'manual' || context.getWorkflowStaticData('node').isTest === true;

/**
 * The service keeps pending deliveries for a moment, so publishing a new version loses nothing.
 * Listening for a test event cancels them: the user wants the next event, not older ones. The
 * revision protects a subscription that has been created again since. The instance protects the
 * subscription of another n8n: a clone knows the ids of its original.
 */
async function removeSubscription(
	context: IHookFunctions,
	{ id, revision }: Revision,
): Promise<void> {
	await requestDeletion(context, {
		path: `/api/hooks/${encodeURIComponent(id)}`,
		query: {
			pending: isTest(context) ? 'cancel' : 'keep',
			...getInstance(context),
			...(revision === undefined ? {} : { revision }),
		},
	});
}
