import type { IHookFunctions } from 'n8n-workflow';
import { requestService } from '../api/transport';
import { getAddress, getIdentity, getOwner } from '../shared/owner';
import type { StoredPublication } from '../shared/publication';
import { isRestart, publish, tryTo, unpublish } from '../shared/publication';
import { readTimeoutSeconds } from '../shared/timeout';

/** What n8n stores in the workflow's static data. */
interface StoredAgent extends StoredPublication {
	/** Whether the secret is for the turns of "Try it", and not for those of customers. */
	isTest?: boolean;
}

const PATH = '/api/agent/webhook';
const TEST_PATH = '/api/agent/test-webhook';

export const readStoredAgent = (context: Pick<IHookFunctions, 'getWorkflowStaticData'>) =>
	context.getWorkflowStaticData('node') as StoredAgent;

/**
 * Makes the workflow the agent.
 * @throws NodeOperationError, NodeApiError with what to correct; then the agent has not changed
 */
export async function publishAgent(context: IHookFunctions): Promise<void> {
	const stored = readStoredAgent(context);
	const isToTurnOn = context.getNodeParameter('options.turnOn', true) as boolean;
	const isAgain = isRestart(context, stored);
	const wanted = {
		endpoint: getAddress(context),
		timeout: readTimeoutSeconds(context, { min: 5, max: 300 }),
		turn_on: isToTurnOn && !isAgain,
		...(isAgain ? { keep_settings: true } : {}),
	};
	const { notice } = await publish(context, PATH, wanted, stored);
	// A test may have left its static data.
	delete stored.isTest;
	if (notice) context.logger.info(`The workflow is the agent. ${notice}`);
}

/** Makes the service send the turns of "Try it" to the test address while the user executes the step. */
export async function listenForTestTurns(context: IHookFunctions): Promise<void> {
	const { secret }: { secret: string } = await requestService(context, {
		method: 'PUT',
		path: TEST_PATH,
		body: { endpoint: getAddress(context), owner: getOwner(context) },
	});
	Object.assign(readStoredAgent(context), { secret, isTest: true });
}

/**
 * Undoes `publishAgent` or `listenForTestTurns`. Never throws.
 * @returns whether the service no longer calls this address
 */
export async function releaseAgent(context: IHookFunctions): Promise<boolean> {
	const stored = readStoredAgent(context);
	const { isTest, secret } = stored;
	if (isTest) return await stopListening(context);
	const isUnpublished = await tryTo(context, 'unpublish the agent', () =>
		unpublish(context, PATH, stored),
	);
	// Without the stored secret, it is unknown which of the two to undo, so both are.
	return secret ? isUnpublished : (await stopListening(context)) && isUnpublished;
}

/** Stops the turns of "Try it". Never throws. @returns whether it worked */
async function stopListening(context: IHookFunctions): Promise<boolean> {
	const stored = readStoredAgent(context);
	delete stored.secret;
	delete stored.isTest;
	return await tryTo(context, 'stop listening for turns', async () => {
		await requestService(context, {
			method: 'DELETE',
			path: TEST_PATH,
			query: { ...getIdentity(context), endpoint: getAddress(context) },
		});
	});
}
