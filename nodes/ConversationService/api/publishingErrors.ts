import type { IHookFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { isLocalHost, parseUrl } from './baseUrl';
import { errorCode, errorFix, errorParam, FIXES } from './errors';
import { getBaseUrl } from './transport';

/** What the triggers call the fields of the API. */
const LABELS: Record<string, string> = {
	arguments: '"Sample Arguments"',
	description: '"Description"',
	events: '"Events"',
	example_phrases: '"Example Phrases"',
	'filter.channels': 'The filter "Channels"',
	'filter.conversation_ids': 'The filter "Conversation IDs"',
	'filter.funnel_stages': 'The filter "Funnel Stages"',
	'filter.senders': '"Sent By"',
	'filter.statuses': 'The filter "Statuses"',
	name: '"Tool Name"',
	parameters: '"Parameters"',
	sample_arguments: '"Sample Arguments"',
	timeout: '"Timeout"',
};

const CORRECT_IT = 'Correct it in this node, then publish again.';

/** Addresses of private networks, in the form that URLs have. */
const PRIVATE_ADDRESS = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[f[cd])/;

/**
 * Publishes, or starts to listen for a test event. When that fails, puts what to do in n8n into the
 * error's message, since n8n shows nothing but the message.
 */
export async function withFixInMessage<T>(
	context: IHookFunctions,
	publish: () => Promise<T>,
): Promise<T> {
	try {
		return await publish();
	} catch (error) {
		throw await explained(context, error);
	}
}

async function explained(context: IHookFunctions, error: unknown): Promise<unknown> {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		const message = (await explainAddress(context, error)) ?? withFix(error);
		error.message = inThisMode(context, message);
	}
	return error;
}

function withFix(error: NodeApiError | NodeOperationError): string {
	// If nothing answered, n8n's own message says less than the description.
	const isAnswered = error instanceof NodeOperationError || /^\d+$/.test(error.httpCode ?? '');
	const fix = publishingFix(error) ?? error.description ?? CORRECT_IT;
	return isAnswered ? `${asSentence(withLabel(error))} ${fix}` : fix;
}

/** The general fix of `invalid_request` is about an item, and publishing has none. */
const publishingFix = (error: Error): string | undefined => {
	const fix = errorFix(error);
	return fix === FIXES.invalid_request ? CORRECT_IT : fix;
};

/** `sample_arguments.total must be…` → `"Sample Arguments" (total) must be…` */
function withLabel(error: NodeApiError | NodeOperationError): string {
	const param = errorParam(error) ?? '';
	const field = Object.keys(LABELS).find((name) => param === name || param.startsWith(`${name}.`));
	if (!field || !error.message.startsWith(param)) return error.message;
	const inside = param.slice(field.length + 1);
	return `${LABELS[field]}${inside ? ` (${inside})` : ''}${error.message.slice(param.length)}`;
}

const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** A user who tests presses "Execute step" again instead of publishing. */
const inThisMode = (context: IHookFunctions, text: string): string =>
	context.getMode() === 'manual'
		? text.replace(/\bpublish again\b/g, 'execute the step again')
		: text;

/** What to do when the service may not call n8n's webhook address. */
async function explainAddress(context: IHookFunctions, error: Error): Promise<string | undefined> {
	const code = errorCode(error);
	const url = parseUrl(context.getNodeWebhookUrl('default') ?? '');
	if (!url || !code?.startsWith('target_url_')) return undefined;
	const isLocal = isLocalHost(url.hostname) || PRIVATE_ADDRESS.test(url.hostname);
	if (code === 'target_url_unresolvable') {
		return `Conversation Service does not find ${url.hostname}, the host of n8n's webhook address. Set WEBHOOK_URL of n8n to an address that the service can find, restart n8n, then publish again.`;
	}
	if (code === 'target_url_not_public' || isLocal) {
		const settings = `${await getBaseUrl(context)}/settings`;
		const orElse = isLocal ? '' : ', or set WEBHOOK_URL of n8n to its public address';
		return `Conversation Service may not call n8n at ${url.origin} yet. Choose where n8n runs under Settings of the service (${settings}), or set N8N_URL of the service${orElse}. Then publish again.`;
	}
	const kind = code === 'target_url_not_https' ? 'must begin with https' : 'cannot be used';
	return `n8n's webhook address ${url.origin} ${kind}. Set WEBHOOK_URL of n8n to its https address, restart n8n, then publish again.`;
}
