import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';
import { getBaseUrl, requestService } from '../api/transport';
import type {
	ContactRecord,
	ConversationRecord,
	Page,
	PaymentLinkRecord,
	SubscriptionRecord,
	ToolCallRecord,
	ToolRecord,
} from '../api/types';
import { CHANNELS, PAYMENT_STATUSES, STATUSES, TOOL_STATUSES } from './options';

const PAGE_SIZE = 100;
/** A search reads at most this many pages at a time. The list asks for more when the user scrolls. */
const PAGES_AT_ONCE = 5;

/**
 * Each entry tells who it is, when something last happened, who has to answer, and where. The panel
 * shows about 50 characters of it, so what tells two of them apart comes first.
 */
export async function searchConversations(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const baseUrl = await getBaseUrl(this);
	const timeZone = this.getTimezone();
	const toItem = (record: ConversationRecord) => ({
		name: join([
			record.contact_name,
			record.contact.phone_masked ?? record.contact.email_masked ?? record.contact_display,
			toShortTime(record.updated_at, timeZone),
			nameOf(STATUSES, record.status),
			nameOf(CHANNELS, record.channel),
		]),
		value: record.id,
		url: `${baseUrl}/conversations/${record.id}`,
	});
	return await search(this, '/api/conversations', '', cursor, toItem, byText(filter));
}

export async function searchContacts(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const timeZone = this.getTimezone();
	const toItem = (record: ContactRecord) => ({
		name: join([
			record.name,
			record.phone_masked,
			record.email_masked,
			nameOf(CHANNELS, record.channel),
			toShortTime(record.created_at, timeZone),
		]),
		value: record.id,
	});
	return await search(this, '/api/contacts', '', cursor, toItem, byText(filter));
}

/** The service itself searches these lists. */
const byText = (filter = ''): IDataObject => (filter.trim() ? { q: filter.trim() } : {});

export async function searchSubscriptions(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	return await search(this, '/api/hooks', filter, cursor, (record: SubscriptionRecord) => ({
		name: join([record.owner?.workflow_name, record.events.join(', '), record.target_url]),
		value: record.id,
	}));
}

export async function searchPaymentLinks(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const timeZone = this.getTimezone();
	return await search(this, '/api/payment-links', filter, cursor, (record: PaymentLinkRecord) => ({
		name: join([
			record.amount_display,
			record.description,
			nameOf(PAYMENT_STATUSES, record.status),
			toShortTime(record.created_at, timeZone),
		]),
		value: record.id,
	}));
}

export async function searchTools(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	return await search(this, '/api/tools', filter, cursor, (record: ToolRecord) => ({
		name: join([record.name, nameOf(TOOL_STATUSES, record.status)]),
		value: record.id,
	}));
}

/** Searches only the calls that wait for a decision: nobody chooses others from a list. */
export async function searchPendingToolCalls(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const timeZone = this.getTimezone();
	const toItem = (record: ToolCallRecord) => ({
		name: join([
			record.tool,
			shorten(JSON.stringify(record.arguments)),
			toShortTime(record.created_at, timeZone),
		]),
		value: record.tool_call_id,
	});
	return await search(this, '/api/tool-calls', filter, cursor, toItem, {
		status: 'pending_approval',
	});
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/**
 * Reads pages until one has an item that matches. The service searches in the `query` only; the
 * `filter` is for lists that it does not search.
 */
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
	let next = cursor;
	for (let pages = 0; pages < PAGES_AT_ONCE && results.length === 0; pages++) {
		const page = toResult(await requestPage<T>(context, path, next, query), toItem);
		results.push(
			...page.results.filter(({ name, value }) =>
				`${name} ${value}`.toLowerCase().includes(wanted),
			),
		);
		next = page.paginationToken as string | undefined;
		if (!next) break;
	}
	return { results, paginationToken: next };
}

const requestPage = async <T>(
	context: ILoadOptionsFunctions,
	path: string,
	cursor: string | undefined,
	query: IDataObject,
): Promise<Page<T>> =>
	await requestService(context, {
		method: 'GET',
		path,
		query: { ...query, limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) },
		maxWaitSeconds: 5,
	});

const toResult = <T>(
	{ data, next_cursor: next }: Page<T>,
	toItem: (record: T) => INodeListSearchItems,
): INodeListSearchResult => ({ results: data.map(toItem), paginationToken: next ?? undefined });

/** Leaves out what is unknown, and what says the same twice. */
const join = (parts: Array<string | null | undefined>): string =>
	[...new Set(parts.filter(Boolean))].join(' · ');

const nameOf = (options: INodePropertyOptions[], value: string): string =>
	options.find((option) => option.value === value)?.name ?? value;

/** `23 Nov, 14:05` by the clock of the workflow, with the year when it is another one. */
function toShortTime(time: string, timeZone: string): string {
	const date = new Date(time);
	const yearOf = (at: Date) => at.toLocaleString('en-GB', { year: 'numeric', timeZone });
	const isThisYear = yearOf(date) === yearOf(new Date());
	return date.toLocaleString('en-GB', {
		day: 'numeric',
		month: 'short',
		...(isThisYear ? {} : { year: 'numeric' }),
		hour: '2-digit',
		minute: '2-digit',
		timeZone,
	});
}
