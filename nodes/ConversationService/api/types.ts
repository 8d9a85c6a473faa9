import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';

export const CREDENTIAL = 'conversationServiceApi';

/** The contexts that may call the service. */
export type ServiceContext =
	| IExecuteFunctions
	| IHookFunctions
	| ILoadOptionsFunctions
	| IWebhookFunctions;

/** One page of a list, as the service returns it. */
export interface Page<T> {
	data: T[];
	next_cursor: string | null;
}

export interface SubscriptionRecord extends IDataObject {
	id: string;
	event: string;
	events: string[];
	target_url: string;
	source: string;
	/** Null when no workflow has published the subscription. */
	owner: { instance_id: string; workflow_name: string } | null;
	revision: number;
	status: 'active' | 'failing';
}

/**
 * The answer when a subscription is created or its secret is rotated. No other answer has the
 * signing secret.
 */
export interface CreatedSubscription extends SubscriptionRecord {
	secret: string;
}

/** The answer to a rotation. */
export interface RotatedSubscription extends CreatedSubscription {
	previous_secret_expires_at: string;
	notice: string;
}

export interface ConversationRecord extends IDataObject {
	id: string;
	channel: string;
	status: string;
	contact_name: string;
	contact_display: string;
	contact: { phone_masked: string | null; email_masked: string | null };
	updated_at: string;
}

export interface ContactRecord extends IDataObject {
	id: string;
	name: string | null;
	channel: string;
	phone_masked: string | null;
	email_masked: string | null;
	created_at: string;
}

export interface PaymentLinkRecord extends IDataObject {
	id: string;
	status: string;
	amount_display: string;
	description: string;
	created_at: string;
}

export interface ToolRecord extends IDataObject {
	id: string;
	name: string;
	/** Null for the HTTP kind. */
	endpoint: string | null;
	status: 'draft' | 'live' | 'paused';
}

/** The answer when a tool is created. */
export interface ToolWithSecret extends ToolRecord {
	secret: string;
}

export interface ToolCallRecord extends IDataObject {
	tool_call_id: string;
	tool: string;
	arguments: IDataObject;
	conversation_id: string;
	status: string;
	http_status: number | null;
	created_at: string;
}

/** A question, open until a customer replies or a colleague decides. */
export interface WaitRecord extends IDataObject {
	id: string;
	kind: 'reply' | 'decision';
	/** `open`, then `answered`, `approved`, `rejected`, `expired` … */
	status: string;
	conversation_id: string | null;
	turn_id: string | null;
	answer: {
		text: string;
		value: string | number | null;
		messages: IDataObject[];
		seconds_waited: number;
	} | null;
	decision: { approved: boolean; by: { name: string }; note: string | null; at: string } | null;
	created_at: string;
	ended_at: string | null;
}
