import type { IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { requestService } from '../api/transport';
import { getAddress, getIdentity, getOwner } from '../shared/owner';
import type { StoredPublication } from '../shared/publication';
import { publish, tryTo, unpublish } from '../shared/publication';

/** What n8n stores with the workflow, in its static data. */
interface StoredAgent extends StoredPublication {
	/** Whether the secret is that of a test event. */
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
	const wanted = {
		endpoint: getAddress(context),
		timeout: readTimeout(context),
		turn_on: context.getNodeParameter('options.turnOn', true) as boolean,
	};
	const { notice } = await publish(context, PATH, wanted, readStoredAgent(context));
	if (notice) context.logger.info(`The workflow is the agent. ${notice}`);
}

/** Has the service send the turns of "Try it" to the test address, while the user executes the step. */
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
	const isGivenUp = await tryTo(context, 'give up the agent', () =>
		unpublish(context, PATH, stored),
	);
	// Without the stored secret, nothing tells which of the two it was, so both are ended.
	return secret ? isGivenUp : (await stopListening(context)) && isGivenUp;
}

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

function readTimeout(context: IHookFunctions): number {
	const seconds = Number(context.getNodeParameter('timeout', 60));
	if (seconds >= 5 && seconds <= 300) return seconds;
	throw new NodeOperationError(context.getNode(), 'The timeout is not from 5 to 300 seconds', {
		description: 'Enter in "Timeout" how many seconds the workflow has for an answer.',
	});
}
