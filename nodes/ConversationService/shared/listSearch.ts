import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';
import { requestService } from '../api/transport';
import type {
	ConversationRecord,
	Page,
	PaymentLinkRecord,
	SubscriptionRecord,
	ToolCallRecord,
	ToolRecord,
} from '../api/types';

const PAGE_SIZE = 100;
/** A search reads at most this many pages at a time. The list asks for more when the user scrolls. */
const PAGES_AT_ONCE = 5;

export async function searchConversations(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	return await search(this, '/api/conversations', filter, cursor, (record: ConversationRecord) => ({
		name: `${record.contact_name || record.contact_display || record.id} (${record.status}, ${record.channel})`,
		value: record.id,
	}));
}

export async function searchSubscriptions(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	return await search(this, '/api/hooks', filter, cursor, (record: SubscriptionRecord) => ({
		name: `${record.event} → ${record.target_url}`,
		value: record.id,
	}));
}

export async function searchPaymentLinks(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	return await search(this, '/api/payment-links', filter, cursor, (record: PaymentLinkRecord) => ({
		name: `${record.amount_display} ${record.description} (${record.status})`,
		value: record.id,
	}));
}

export async function searchTools(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	return await search(this, '/api/tools', filter, cursor, (record: ToolRecord) => ({
		name: `${record.name} (${record.status})`,
		value: record.id,
	}));
}

/** Searches only the calls that wait for a decision: nobody chooses others from a list. */
export async function searchPendingToolCalls(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const toItem = (record: ToolCallRecord) => ({
		name: `${record.tool} ${shorten(JSON.stringify(record.arguments))}`,
		value: record.tool_call_id,
	});
	return await search(this, '/api/tool-calls', filter, cursor, toItem, {
		status: 'pending_approval',
	});
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** The API has no text search, so this reads the pages and keeps the items that match. */
async function search<T>(
	context: ILoadOptionsFunctions,
	path: string,
	filter = '',
	cursor: string | undefined,
	toItem: (record: T) => INodeListSearchItems,
	query: IDataObject = {},
): Promise<INodeListSearchResult> {
	const wanted = filter.toLowerCase();
	const results: INodeListSearchItems[] = [];
	let next: string | null = cursor ?? null;
	for (let pages = 0; pages < PAGES_AT_ONCE && results.length === 0; pages++) {
		const page: Page<T> = await requestService(context, {
			method: 'GET',
			path,
			query: { ...query, limit: PAGE_SIZE, ...(next ? { cursor: next } : {}) },
			maxWaitSeconds: 5,
		});
		results.push(
			...page.data
				.map(toItem)
				.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted)),
		);
		next = page.next_cursor;
		if (!next) break;
	}
	return { results, paginationToken: next ?? undefined };
}
