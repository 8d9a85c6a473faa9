import { createHash } from 'node:crypto';
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { requestService } from '../api/transport';
import { getAddress, getIdentity, getOwner } from './owner';

/**
 * How long n8n may take to store the trigger's static data, with the secret in it. Calls that arrive
 * earlier are answered 503, and the service repeats them.
 */
export const STORED_AFTER_MS = 1500;

/** What a trigger has published. n8n stores it with the workflow. */
export interface StoredPublication {
	secret?: string;
	/** The revision of the publication, while the workflow is published. */
	revision?: number;
}

/** The service's answer to a publication. */
export interface Published extends IDataObject {
	revision: number;
	/** Null when the trigger already has the secret. */
	secret: string | null;
	/** What the user should know, although publishing worked. */
	notice?: string | null;
}

/**
 * Whether n8n only starts again: then it publishes every published workflow once more, and what the
 * team has switched off in the service since must stay off. The secret tells that the workflow was
 * published before: it stays when n8n calls `delete` after a try that failed; the revision does not.
 */
export const isRestart = (
	context: Pick<IHookFunctions, 'getActivationMode'>,
	{ secret }: StoredPublication,
): boolean =>
	secret !== undefined && ['init', 'leadershipChange'].includes(context.getActivationMode());

/**
 * Publishes the workflow to the service, as a tool or as the agent, with this workflow as the owner,
 * and stores the secret. Publishing again is safe.
 * @param wanted what to publish, without the owner
 * @throws NodeApiError; then `stored` is unchanged. If only the answer was lost, the service has
 * published it nevertheless
 */
export async function publish(
	context: IHookFunctions,
	path: string,
	wanted: IDataObject,
	stored: StoredPublication,
): Promise<Published> {
	const body = {
		...wanted,
		owner: getOwner(context),
		take_over: context.getNodeParameter('options.takeOver', false) as boolean,
		// Without this hash, the answer has a new secret.
		...(stored.secret ? { secret_hash: sha256(stored.secret) } : {}),
	};
	const published: Published = await requestService(context, { method: 'PUT', path, body });
	stored.revision = published.revision;
	stored.secret = published.secret ?? stored.secret;
	return published;
}

/** Unpublishes what this workflow has published. Keeps the secret for the next publication. */
export async function unpublish(
	context: IHookFunctions,
	path: string,
	stored: StoredPublication,
): Promise<void> {
	const { revision } = stored;
	delete stored.revision;
	const query = {
		...getIdentity(context),
		endpoint: getAddress(context),
		...(revision ? { revision } : {}),
	};
	await requestService(context, { method: 'DELETE', path, query });
}

/**
 * Runs a step of unpublishing and never throws: n8n would try it again, possibly after the workflow was
 * published again. Warns of a failure in n8n's log.
 * @param what as in "pause the tool"
 * @returns whether it worked
 */
export async function tryTo(
	context: IHookFunctions,
	what: string,
	action: () => Promise<void>,
): Promise<boolean> {
	try {
		await action();
		return true;
	} catch (error) {
		context.logger.warn(`Could not ${what} at Conversation Service`, {
			error: (error as Error).message,
		});
		return false;
	}
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
