import type { IDataObject, IHookFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';
import { errorCode, existingId } from './errors';
import { requestList, requestService } from './transport';
import type { CreatedSubscription, SubscriptionRecord } from './types';

/** What the workflow's static data keeps, by event. */
export type StoredSubscriptions = Record<string, { id: string; revision: number; secret: string }>;

/** Which subscription, and which of its lives. */
type Revision = { id: string; revision?: number };

/** Events that arrive before n8n has stored the secrets are answered 503 and retried. */
const SAMPLE_DELAY_MS = 1500;

/**
 * Whether this address has exactly the chosen events' subscriptions. Others of this address, left
 * behind by a crash or a deletion that failed, are removed. One of a later revision than the stored
 * one has a secret that is not stored.
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
 * What was subscribed here before is replaced, since a secret is shown only once.
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
			context.logger.warn('Could not remove a subscription again', { error: cause.message }),
		);
		throw new NodeApiError(context.getNode(), error as JsonObject);
	}
	staticData.subscriptions = Object.fromEntries(
		created.map(({ event, id, revision, secret }) => [event, { id, revision, secret }]),
	);
	// When it stops listening n8n says neither here nor by its mode that this was a test.
	staticData.isTest = context.getMode() === 'manual';
}

/**
 * Removes the subscriptions of this address: those that are known and those found by target_url.
 * What does not exist any more is fine. Never throws: n8n would try again, possibly after the
 * workflow was activated anew, and remove the new subscriptions.
 * @returns whether all are gone; what is left is removed by the next activation
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
 * Asks the service for a sample of the first chosen event, shortly after this returns: the event
 * can be verified only once n8n has stored the secret that `create` leaves in the static data.
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

/** Test and production addresses of n8n differ, so that one never touches the other's. */
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
		const inTheWay = existingId(error);
		if (!inTheWay) throw new NodeApiError(context.getNode(), error as JsonObject);
		await removeSubscription(context, { id: inTheWay });
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
 * The service keeps what is pending until the subscription is made again, so publishing loses
 * nothing. Listening for a test event is different: it wants the next event, not older ones.
 * The revision spares a subscription that was made again while this call was on its way.
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
