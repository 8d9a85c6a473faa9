import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';
import { errorCode, existingId } from '../api/errors';
import { requestList, requestService } from '../api/transport';
import type { CreatedSubscription, SubscriptionRecord } from '../api/types';

/** What n8n stores in the workflow's static data, by event. */
export type StoredSubscriptions = Record<string, { id: string; revision: number; secret: string }>;

/** A subscription, and which of its revisions. */
type Revision = { id: string; revision?: number };

/** Events that arrive before n8n has stored the secrets are answered 503 and retried. */
const SAMPLE_DELAY_MS = 1500;

/**
 * Whether this address has subscriptions to exactly the chosen events. Removes other subscriptions of
 * this address, which a crash or a failed deletion has left. Also removes one with a later revision
 * than the stored one, since its secret is not known here.
 */
export async function haveSubscriptions(context: IHookFunctions): Promise<boolean> {
	const stored = readStored(context.getWorkflowStaticData('node'));
	const here = await findSubscriptionsHere(context);
	const wanted = getWantedEvents(context);
	const isKnown = ({ id, event, revision }: SubscriptionRecord) =>
		stored[event]?.id === id && stored[event].revision === revision && wanted.includes(event);
	const known = here.filter(isKnown);
	await removeAll(
		context,
		here.filter((subscription) => !isKnown(subscription)),
	);
	return known.length === wanted.length && Object.keys(stored).length === wanted.length;
}

/**
 * Subscribes this address to each chosen event, all or nothing, and stores ids and secrets.
 * Replaces earlier subscriptions of this address, since a secret is shown only once.
 */
export async function createSubscriptions(context: IHookFunctions): Promise<void> {
	const wanted = getWantedEvents(context);
	const staticData = context.getWorkflowStaticData('node');
	await removeAll(context, await findSubscriptionsHere(context));
	const created: CreatedSubscription[] = [];
	try {
		for (const event of wanted) created.push(await replaceSubscription(context, event));
	} catch (error) {
		await removeAll(context, created).catch((cause: Error) =>
			context.logger.warn('Could not remove a subscription after publishing failed', {
				error: cause.message,
			}),
		);
		throw new NodeApiError(context.getNode(), error as JsonObject);
	}
	staticData.subscriptions = Object.fromEntries(
		created.map(({ event, id, revision, secret }) => [event, { id, revision, secret }]),
	);
	// Stored, since n8n does not say that this was a test when it stops listening.
	staticData.isTest = context.getMode() === 'manual';
}

/**
 * Removes the subscriptions of this address: those that are stored and those found by target_url. A
 * missing one is no error. Never throws: n8n would try again, possibly after the workflow was
 * published again, and remove the new subscriptions.
 * @returns whether all are gone; the next activation removes the rest
 */
export async function deleteSubscriptions(context: IHookFunctions): Promise<boolean> {
	const staticData = context.getWorkflowStaticData('node');
	const stored = Object.values(readStored(staticData));
	delete staticData.subscriptions;
	let isComplete = true;
	const warn = (error: Error) => {
		isComplete = false;
		context.logger.warn('Could not remove every subscription at Conversation Service', {
			error: error.message,
		});
	};
	const here = await findSubscriptionsHere(context).catch((error: Error) => {
		warn(error);
		return [];
	});
	const elsewhere = stored.filter(({ id }) => here.every((each) => each.id !== id));
	for (const each of [...elsewhere, ...here]) await removeSubscription(context, each).catch(warn);
	return isComplete;
}

/**
 * Asks the service for a sample of the first chosen event after a short delay. The trigger can verify
 * the event only when n8n has stored the secret that `create` puts into the static data.
 */
export async function sendSampleSoon(context: IHookFunctions): Promise<void> {
	const stored = readStored(context.getWorkflowStaticData('node'));
	const [first] = Object.values(stored);
	if (!first) return;
	await sleep(SAMPLE_DELAY_MS);
	try {
		await requestService(context, { method: 'POST', path: `/api/hooks/${first.id}/test` });
	} catch (error) {
		// Listening may have stopped by now; a real event still arrives.
		context.logger.warn('No sample event was sent', { error: (error as Error).message });
	}
}

export function readStored(staticData: IDataObject): StoredSubscriptions {
	return (staticData.subscriptions ?? {}) as unknown as StoredSubscriptions;
}

function getWantedEvents(context: IHookFunctions): string[] {
	const events = [context.getNodeParameter('events', [])].flat().filter(Boolean) as string[];
	if (events.length > 0) return [...new Set(events)];
	throw new NodeOperationError(context.getNode(), 'No event is chosen', {
		description: 'Choose at least one event that starts this workflow.',
	});
}

/** n8n's test and production addresses differ, so neither finds the subscriptions of the other. */
async function findSubscriptionsHere(context: IHookFunctions): Promise<SubscriptionRecord[]> {
	const address = getAddress(context);
	const all = await requestList<SubscriptionRecord>(context, { path: '/api/hooks' });
	return all.filter(({ target_url: targetUrl }) => targetUrl === address);
}

const getAddress = (context: IHookFunctions): string =>
	context.getNodeWebhookUrl('default') as string;

async function replaceSubscription(
	context: IHookFunctions,
	event: string,
): Promise<CreatedSubscription> {
	try {
		return await subscribe(context, event);
	} catch (error) {
		const existing = existingId(error);
		if (!existing) throw new NodeApiError(context.getNode(), error as JsonObject);
		await removeSubscription(context, { id: existing });
		return await subscribe(context, event);
	}
}

const subscribe = async (context: IHookFunctions, event: string): Promise<CreatedSubscription> =>
	await requestService(context, {
		method: 'POST',
		path: '/api/hooks',
		body: { event, target_url: getAddress(context), source: 'n8n' },
	});

async function removeAll(
	context: IHookFunctions,
	subscriptions: readonly Revision[],
): Promise<void> {
	for (const each of subscriptions) await removeSubscription(context, each);
}

const isTest = (context: IHookFunctions): boolean =>
	context.getMode() === 'manual' || context.getWorkflowStaticData('node').isTest === true;

/**
 * The service keeps pending deliveries until the subscription is created again, so publishing loses
 * nothing. Listening for a test event cancels them: the user wants the next event, not older ones.
 * With a revision, a subscription that was created again in the meantime is not removed.
 */
async function removeSubscription(
	context: IHookFunctions,
	{ id, revision }: Revision,
): Promise<void> {
	try {
		await requestService(context, {
			method: 'DELETE',
			path: `/api/hooks/${encodeURIComponent(id)}`,
			query: {
				pending: isTest(context) ? 'cancel' : 'keep',
				...(revision === undefined ? {} : { revision }),
			},
		});
	} catch (error) {
		if (errorCode(error) !== 'not_found')
			throw new NodeApiError(context.getNode(), error as JsonObject);
	}
}
