import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

export const CREDENTIAL = 'conversationServiceApi';

/** The contexts that may call the service. */
export type ServiceContext = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions;

/** A list as the service answers it. */
export interface Page<T> {
	data: T[];
	next_cursor: string | null;
}

export interface SubscriptionRecord extends IDataObject {
	id: string;
	event: string;
	target_url: string;
	source: string;
	status: 'active' | 'failing';
}

/** The answer that creates a subscription: the only one with the signing secret. */
export interface CreatedSubscription extends SubscriptionRecord {
	secret: string;
}

export interface ConversationRecord extends IDataObject {
	id: string;
	channel: string;
	status: string;
	contact_name: string;
	contact_display: string;
}

export interface EventDescription {
	name: string;
	description: string;
}
