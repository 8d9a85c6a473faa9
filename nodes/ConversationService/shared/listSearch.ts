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
 * Each entry says who the customer is, when something last happened, who has to answer, and on which
 * channel. The panel shows about 50 characters, so what tells two entries apart comes first.
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
	return await search(this, { path: '/api/conversations', query: byText(filter), toItem }, cursor);
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
	return await search(this, { path: '/api/contacts', query: byText(filter), toItem }, cursor);
}

/** The service itself searches conversations and contacts. */
const byText = (filter = ''): IDataObject => (filter.trim() ? { q: filter.trim() } : {});

export async function searchSubscriptions(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const toItem = (record: SubscriptionRecord) => ({
		name: join([record.owner?.workflow_name, record.events.join(', '), record.target_url]),
		value: record.id,
	});
	return await search(this, { path: '/api/hooks', toItem }, cursor, filter);
}

export async function searchPaymentLinks(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const timeZone = this.getTimezone();
	const toItem = (record: PaymentLinkRecord) => ({
		name: join([
			record.amount_display,
			record.description,
			nameOf(PAYMENT_STATUSES, record.status),
			toShortTime(record.created_at, timeZone),
		]),
		value: record.id,
	});
	return await search(this, { path: '/api/payment-links', toItem }, cursor, filter);
}

export async function searchTools(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const toItem = (record: ToolRecord) => ({
		name: join([record.name, nameOf(TOOL_STATUSES, record.status)]),
		value: record.id,
	});
	return await search(this, { path: '/api/tools', toItem }, cursor, filter);
}

/** Lists only the calls that wait for approval: nobody chooses others from a list. */
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
	const query = { status: 'pending_approval' };
	return await search(this, { path: '/api/tool-calls', query, toItem }, cursor, filter);
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** What a list shows, and how the service narrows it down. */
interface List<T> {
	path: string;
	query?: IDataObject;
	toItem(record: T): INodeListSearchItems;
}

/**
 * Reads pages, five at most, until one has an item that matches.
 * @param filter a text that an item must contain; empty when the service searches, by `query`
 */
async function search<T>(
	context: ILoadOptionsFunctions,
	{ path, query, toItem }: List<T>,
	cursor: string | undefined,
	filter = '',
): Promise<INodeListSearchResult> {
	const wanted = filter.trim().toLowerCase();
	let results: INodeListSearchItems[] = [];
	let next = cursor;
	for (let pages = 0; pages < PAGES_AT_ONCE && results.length === 0; pages++) {
		const page: Page<T> = await requestService(context, {
			method: 'GET',
			path,
			query: { ...query, limit: PAGE_SIZE, ...(next ? { cursor: next } : {}) },
			maxWaitSeconds: 5,
		});
		results = page.data
			.map(toItem)
			.filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted));
		next = page.next_cursor ?? undefined;
		if (!next) break;
	}
	return { results, paginationToken: next };
}

/** Leaves out what is unknown or repeated. */
const join = (parts: Array<string | null | undefined>): string =>
	[...new Set(parts.filter(Boolean))].join(' · ');

const nameOf = (options: INodePropertyOptions[], value: string): string =>
	options.find((option) => option.value === value)?.name ?? value;

/** `23 Nov, 14:05` in the time zone of the workflow, with the year unless it is this year. */
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
