import type { IWebhookDescription } from 'n8n-workflow';

/** The value that makes n8n check the signature of an address that resumes an execution. */
export const SEND_AND_WAIT = 'sendAndWait';

/**
 * Where the service resumes a waiting execution. n8n registers nothing for it: the address is part
 * of the execution and is signed (`getSignedResumeUrl`).
 */
export const restartWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		// Empty: n8n then answers with what `webhook()` returns.
		responseData: '',
		path: '={{ $nodeId }}',
		restartWebhook: true,
		isFullPath: true,
	},
];

/** What the editor shows while an execution rests in this node. */
export const WAITING_TOOLTIP =
	'={{ $parameter.operation !== "sendAndWait" ? "" : $parameter.resource === "approval" ? "The execution goes on when a colleague decides" : "The execution goes on when the customer replies" }}';
