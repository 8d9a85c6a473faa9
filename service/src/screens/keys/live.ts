import { html, type View } from '../html.ts';

/**
 * The part of a page in which live sections are told of changes to keys, subscriptions and
 * deliveries.
 */
export const liveArea = (content: View): View =>
  html`<div hx-ext="sse" sse-connect="/live">${content}</div>`;

/**
 * A section that is loaded again when something has changed, and once the stream is open: what
 * happened before it is missed otherwise.
 */
export const liveSection = (id: string, address: string, content: View): View => html`
  <div id=${id} data-live hx-get=${address} hx-trigger="sse:keys, htmx:sseOpen from:closest [sse-connect]">${content}</div>
`;
