import type { Request } from 'express';
import { timestamp } from '../platform/clock.ts';
import type { Position } from '../platform/http/searchPage.ts';
import { readFilter } from './filter.ts';
import { INBOX_TABS, type InboxTab } from './tabs.ts';
import type { InboxPlace } from './listInbox.ts';

const MAX_SEARCH_CHARACTERS = 200;

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** Reads the place from a query. Ignores invalid values. */
export function placeOf({ query }: Pick<Request, 'query'>): InboxPlace {
  const tab = textOf(query.tab) as InboxTab;
  return {
    tab: INBOX_TABS.includes(tab) ? tab : 'all',
    search: textOf(query.q).trim().slice(0, MAX_SEARCH_CHARACTERS).toWellFormed(),
    filter: readFilter(query),
    after: readPosition(textOf(query.older)),
  };
}

/** The message before which a page of the thread ends; null for the newest page. */
export function beforeOf({ query }: Pick<Request, 'query'>): number | null {
  const text = textOf(query.before);
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

type Extra = Readonly<Record<string, string | number | null | undefined>>;

/** `/conversations/x?tab=mine&q=ana`: a link that keeps the place. */
export function hrefAt(
  path: string,
  { tab, search, filter, after }: InboxPlace,
  extra: Extra = {},
): string {
  const entries = Object.entries({
    tab: tab === 'all' ? null : tab,
    q: search === '' ? null : search,
    ...filter,
    older: after === null ? null : writePosition(after),
    ...extra,
  }).filter(([, value]) => (value ?? null) !== null);
  const query = new URLSearchParams(
    entries.map(([name, value]) => [name, String(value)]),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** @param subpath of the conversation: `/reply` */
export const threadHref = (
  id: string,
  place: InboxPlace,
  extra: Extra = {},
  subpath = '',
): string => hrefAt(`/conversations/${id}${subpath}`, place, extra);

/** Writes a position for a URL. */
export const writePosition = ({ value, id }: Position): string => `${Date.parse(value)}_${id}`;

/** Reads a position from a URL. Null for any other text: the list then starts at its beginning. */
export function readPosition(text: string): Position | null {
  const [, ms, id] = /^(\d{1,15})_((?:conv|msg)_[0-9A-Z]{26})$/.exec(text) ?? [];
  if (ms === undefined || id === undefined) return null;
  return { value: timestamp(new Date(Number(ms))), id };
}
