import type { INode, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

/** An answer of the service, whatever its status. */
export interface ServiceResponse {
	statusCode: number;
	headers: Record<string, unknown>;
	body: unknown;
}

interface ErrorBody {
	code: string;
	message: string;
	param?: string;
	request_id?: string;
	existing_id?: string;
}

const LOCAL_N8N =
	'For an n8n on your own machine or in a private network, choose where n8n runs under Settings of the service (/settings at the base URL), or set N8N_URL of the service';

/** For a key that the service does not accept. */
export const MAKE_A_NEW_KEY =
	'The key may have expired or been revoked; make a new one on the Keys and subscriptions screen of the service (/keys at the base URL), or stop the service and run "npm run key -- create --name n8n" in its folder.';

const UPDATE_THE_NODES =
	'The versions of the node and of the service do not match. Update both, the service first.';

/**
 * What an n8n user can do about each error of the service. A test compares the list with the
 * service's own catalogue of errors.
 */
export const FIXES: Readonly<Record<string, string>> = {
	approval_already_decided:
		'Somebody has decided already, or the approval has expired. Choose a call with the status pending_approval; Tool Call → Get Many shows the status.',
	body_too_large:
		'The service takes up to 256 KiB in one call. Shorten the text or the JSON in the fields of this node.',
	channel_exists:
		'This account is connected already. Change it on the Channels screen of the service (/channels at the base URL), or remove it there first.',
	channel_limit_reached:
		'Remove a channel that is no longer used on the Channels screen of the service (/channels at the base URL).',
	channel_removed:
		'The account that this customer wrote to is no longer connected. Connect it again on the Channels screen of the service (/channels at the base URL), then run the node again.',
	conversation_closed:
		'A closed conversation does not change any more. When the customer writes again, a new one opens; Conversation → Find by Contact returns it.',
	delivery_pending:
		'Wait until its last attempt is over; Subscription → Get Deliveries shows next_attempt_at.',
	idempotency_key_not_allowed: UPDATE_THE_NODES,
	idempotency_key_reused:
		'This node has already used the same key with other content. Use a different Deduplication Key for each message or link, or leave it empty.',
	internal:
		'Try again. If it keeps failing, give the request ID to the person who runs the service. The log of the service has the cause.',
	invalid_json: UPDATE_THE_NODES,
	invalid_request:
		'Correct the field of this node that the message names. If it holds an expression, look at its result for this item.',
	method_not_allowed: UPDATE_THE_NODES,
	not_found:
		'Check the ID. The API key belongs to one workspace, and anything in another workspace counts as not found.',
	outside_messaging_window:
		'WhatsApp takes messages for 24 hours after the last one of the customer. Wait until they write again, or reach them in another way. To let the workflow go on, set "On Error" in the settings of this node to "Continue".',
	payment_not_open:
		'The link is paid, cancelled or expired. Payment Link → Get shows its status; Payment Link → Create makes a new one.',
	payment_provider_missing:
		'Set the provider up on the Payments screen of the service (/payments at the base URL), or choose another one under "Provider" in the options of this node.',
	payment_refused:
		'Correct the amount, the currency or whatever the provider names. If it names a key, enter a valid one on the Payments screen of the service (/payments at the base URL). If the options of this node have a Deduplication Key, change it too.',
	permission_missing:
		'On the Keys and subscriptions screen of the service (/keys at the base URL), create a key with "May read contact details in the clear" and enter it in the credential, or run "npm run key -- create --reveal-contacts" in the folder of the service. Or turn off "Reveal Phone and Email".',
	published_elsewhere:
		'If this n8n was moved, cloned or has a new address, turn on the option "Take Over From Another n8n". Then publish again.',
	rate_limited:
		'The service asked n8n to wait for longer than a node does: 60 seconds, or 5 seconds to fill a list. Make fewer calls at a time, or raise API_RATE_LIMIT_PER_MINUTE of the service.',
	secret_limit_reached:
		'Five secrets already sign the deliveries. End the overlap with Subscription → Revoke Previous Secrets, or wait until one expires.',
	subscription_exists: 'Another call subscribed this address at the same moment, so publish again.',
	subscription_limit_reached: 'Subscription → Get Many shows all of them. Then publish again.',
	target_url_invalid:
		'Set WEBHOOK_URL of n8n to a plain https:// address, then publish or run the workflow again.',
	target_url_not_https: `The service calls https:// addresses only. Set WEBHOOK_URL of n8n to its https address, then publish or run the workflow again. ${LOCAL_N8N}.`,
	target_url_not_public: `The service must be able to reach n8n at a public address. Set WEBHOOK_URL of n8n to it, then publish or run the workflow again. ${LOCAL_N8N}.`,
	target_url_unresolvable:
		'The service cannot resolve the host name in the webhook URL of n8n. Set WEBHOOK_URL of n8n to a name that the service can resolve, then publish or run the workflow again.',
	tool_exists:
		'Enter another "Tool Name", or rename or delete the tool that has it, then publish again.',
	tool_limit_reached:
		'Delete one on the Tools screen of the service (/tools at the base URL), then publish again.',
	tool_not_tested:
		'Enter "Sample Arguments", so that the service makes a test call first. Or make a successful test call with Tool → Test.',
	try_without_customer:
		'The turn came from "Try it" on the Agent screen, where no customer could answer. Publish the workflow, and write to it in the chat of the service (/chat at the base URL).',
	turn_superseded:
		'A person took over, the customer wrote again, or the turn has ended. Nothing was sent. To let the workflow end here without an error, set "On Error" in the settings of this node to "Continue (using error output)".',
	unauthorized: `Open the credential and enter a valid API key. ${MAKE_A_NEW_KEY}`,
	unavailable:
		'The service cannot store anything at the moment. Turn on "Retry On Fail" in the settings of this node.',
	unknown_event:
		'This version of the service does not know the event. Choose another one or update the service.',
	unsupported_media_type: UPDATE_THE_NODES,
	wait_ended:
		'Somebody has decided already, or the time is over. The message says who decided, and when.',
	wait_exists:
		'A customer is asked one question at a time, and another workflow is waiting for their reply. Let this one wait until that has ended, or stop the other execution and cancel its wait.',
	wait_limit_reached:
		'Too many questions are waiting for an answer. Enter a shorter time under "Wait Up To" in the nodes that wait, so that unanswered questions end sooner.',
	wait_not_ended:
		'Nobody has answered yet. The execution goes on by itself once the wait has ended.',
	wait_superseded: 'The execution has gone on and is now waiting for something else.',
};

const NOT_THE_SERVICE =
	'Check the base URL in the credential: the address of Conversation Service itself, without /api at the end.';

/** Makes the error for an answer of the service that is not a success: its own message, and a fix. */
export function serviceError(node: INode, response: ServiceResponse, itemIndex?: number) {
	const { statusCode, body } = response;
	const known = readError(body);
	if (!known) return notTheServiceError(node, response, itemIndex);
	const error = new NodeApiError(node, { error: { ...known } } as JsonObject, {
		message: known.message,
		description: describe(known),
		httpCode: String(statusCode),
		itemIndex,
	});
	Object.assign(error.context, {
		code: known.code,
		param: known.param,
		existingId: known.existing_id,
		fix: FIXES[known.code],
	});
	return error;
}

/** Makes the error for an answer that comes from something else: a proxy, for example. */
export function notTheServiceError(node: INode, response: ServiceResponse, itemIndex?: number) {
	const { statusCode, headers } = response;
	const location = typeof headers.location === 'string' ? ` to ${headers.location}` : '';
	const isRedirect = statusCode >= 300 && statusCode < 400;
	return new NodeApiError(node, { statusCode } as JsonObject, {
		message: isRedirect
			? `The base URL redirects${location}`
			: `The base URL answers with status ${statusCode}, but not as Conversation Service`,
		description: isRedirect
			? 'Enter the address it redirects to as base URL in the credential.'
			: NOT_THE_SERVICE,
		httpCode: String(statusCode),
		itemIndex,
	});
}

const fromContext =
	(key: string) =>
	(error: unknown): string | undefined =>
		error instanceof NodeApiError ? (error.context[key] as string | undefined) : undefined;

/** The service's error code, if the error comes from the service. */
export const errorCode = fromContext('code');

/** The field that the service refused, if it names one. */
export const errorParam = fromContext('param');

/** What an n8n user can do about it, if the error comes from the service. */
export const errorFix = fromContext('fix');

/** The id of the existing subscription or tool that prevents a new one. */
export const existingId = fromContext('existingId');

/** Says why nothing answered, and what to check. */
export function describeConnectionFailure(code: string | undefined, baseUrl: string): string {
	if (code === 'CERT_HAS_EXPIRED') {
		return `The certificate of ${baseUrl} has expired (${code}). Renew it.`;
	}
	if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
		return `The certificate of ${baseUrl} is for another host name (${code}). Enter the name that the certificate is for, or give the service a certificate for this one.`;
	}
	if (code && /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
		return `n8n does not trust the certificate of ${baseUrl} (${code}). Start n8n with NODE_EXTRA_CA_CERTS set to the certificate of its authority.`;
	}
	const hint = /\/\/(localhost|127\.)/.test(baseUrl)
		? ' If n8n runs in a container, localhost is the container itself: use the name of the service’s container, or host.docker.internal.'
		: '';
	return `Nothing answers at ${baseUrl}${code ? ` (${code})` : ''}. Check the base URL in the credential and that the service is running.${hint}`;
}

function readError(body: unknown): ErrorBody | null {
	const error = (body as { error?: ErrorBody } | null | undefined)?.error;
	return typeof error?.code === 'string' && typeof error.message === 'string' ? error : null;
}

function describe({ code, param, request_id: requestId }: ErrorBody): string {
	return [
		FIXES[code] ?? 'Correct what the message says, and run the node again.',
		param ? `Field: ${param}.` : '',
		requestId ? `Request ID: ${requestId}.` : '',
	]
		.filter(Boolean)
		.join(' ');
}
