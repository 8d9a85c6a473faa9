import { createHash } from 'node:crypto';
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { requestService } from '../api/transport';
import { getAddress, getIdentity, getOwner } from './owner';

/** What n8n stores with the workflow about what it has published. */
export interface StoredPublication {
	secret?: string;
	/** The revision of the publication, while the workflow is published. */
	revision?: number;
}

/** The answer to a publication. */
export interface Published extends IDataObject {
	revision: number;
	/** Null when the trigger has the secret already. */
	secret: string | null;
	/** What the user should know, although publishing worked. */
	notice?: string | null;
}

/**
 * Publishes the workflow to the service, as a tool or as the agent, with this workflow as the owner,
 * and stores the secret. Publishing again is safe.
 * @param wanted what to publish, without the owner
 * @throws NodeApiError; then `stored` is unchanged. The service may have published all the same, if
 * only its answer was lost
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
		// Without the hash of the current secret, the answer has a new secret.
		...(stored.secret ? { secret_hash: sha256(stored.secret) } : {}),
	};
	const published: Published = await requestService(context, { method: 'PUT', path, body });
	const { revision, secret } = published;
	Object.assign(stored, { revision, secret: secret ?? stored.secret });
	return published;
}

/** Gives up what this workflow has published. The secret is kept for the next publication. */
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
 * Does what must not throw, since n8n would try a failed unpublishing again, possibly after the workflow
 * was published again. A failure is a warning in n8n's log.
 * @param what as in "unpublish the tool"
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
