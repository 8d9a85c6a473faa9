import { html, type View } from './html.ts';

export const LIVE_EVENTS = [
  'conversations',
  'thread',
  'tools',
  'waiting',
  'agent',
  'channels',
  'payments',
  'keys',
] as const;
/** What a page can listen to, with `hx-trigger="sse:<event>"`. */
export type LiveEvent = (typeof LIVE_EVENTS)[number];

/** The part of a page in which live sections hear of changes. */
export const liveArea = (content: View): View =>
  html`<div hx-ext="sse" sse-connect="/live">${content}${waitingRelay()}</div>`;

/** Tells the navigation, which is outside of every live area, that its count may have changed. */
export const waitingRelay = (): View => html`<span hidden hx-trigger="sse:waiting"></span>`;

/**
 * When a live section reloads: on its event, and each time the stream opens, because an event may
 * have been missed before.
 */
export const reloadsOn = (event: LiveEvent, area = '[sse-connect]'): string =>
  `sse:${event}, htmx:sseOpen from:closest ${area}`;

/** A section that reloads from `address` when something has changed. */
export const liveSection = (
  event: LiveEvent,
  id: string,
  address: string,
  content: View,
): View => html`
  <div id=${id} data-live hx-get=${address} hx-trigger=${reloadsOn(event)}>${content}</div>
`;
