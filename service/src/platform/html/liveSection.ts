import { assetUrl } from './assets.ts';
import { html, type View } from './html.ts';
import type { Viewer } from './viewer.ts';

export const LIVE_EVENTS = [
  'conversations',
  'thread',
  'presence',
  'awaiting',
  'assigned',
  'tools',
  'waiting',
  'agent',
  'channels',
  'payments',
  'keys',
] as const;
/** What a part of a page can listen to, with `hx-trigger="live:<event>"`. */
export type LiveEvent = (typeof LIVE_EVENTS)[number];

/**
 * The `hx-trigger` of a live part: live.js triggers it when something has changed, and again until
 * a reload succeeds. `thread` and `presence` are those of the conversation in `data-conversation`.
 */
export const reloadsOn = (event: LiveEvent): string => `live:${event}`;

/** A section that reloads from `address` when something has changed. */
export const liveSection = (
  event: LiveEvent,
  id: string,
  address: string,
  content: View,
): View => html`
  <div id=${id} data-live hx-get=${address} hx-trigger=${reloadsOn(event)}>${content}</div>
`;

/**
 * Reloads several parts of a page at once, from one answer, when something has changed.
 * @param parts the ids of the parts
 */
export const liveParts = (
  event: LiveEvent,
  address: string,
  [first, ...others]: readonly [string, ...string[]],
): View => html`
  <span
    hidden
    hx-get=${address}
    hx-trigger=${reloadsOn(event)}
    hx-target=${`#${first}`}
    hx-select=${`#${first}`}
    hx-select-oob=${others.map((id) => `#${id}`).join(',')}
    hx-swap="outerHTML show:none"
  ></span>
`;

/** What the scripts of a member's page have to know: whose page it is, and how recent. */
export const livePage = ({ member, livePosition }: Viewer): View => html`
  <div
    id="live-page"
    hidden
    data-member=${member.id}
    data-position=${livePosition}
    data-worker=${assetUrl('live-worker.js')}
  ></div>
`;
