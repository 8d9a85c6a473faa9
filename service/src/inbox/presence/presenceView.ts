import { avatar } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { reloadsOn } from '../../platform/html/liveSection.ts';
import { threadHref } from '../links.ts';
import type { InboxPlace } from '../listInbox.ts';
import type { Present } from './presences.ts';

interface PresenceParts {
  readonly conversationId: string;
  readonly place: InboxPlace;
  readonly present: readonly Present[];
}

/** Who else has the conversation open, in the thread's head. presence.js reports this member. */
export const presenceView = (parts: PresenceParts): View => html`
  <div
    id="presence"
    class="live presence"
    data-live
    hx-get=${threadHref(parts.conversationId, parts.place, {}, '/presence')}
    hx-trigger=${reloadsOn('presence')}
  >
    ${hereView(parts.present)}
  </div>
`;

/** Who else is writing, at the composer. */
export const writingView = (present: readonly Present[], attributes: object = {}): View => html`
  <p id="writing" class="muted writing" ...${attributes}>${writingInWords(present)}</p>
`;

/**
 * The content of `presenceView` after a change, with a new `writingView`, which htmx swaps in at
 * the composer.
 */
export const presenceFragment = (present: readonly Present[]): View =>
  html`${hereView(present)}${writingView(present, { 'hx-swap-oob': 'true' })}`;

/** As many as a phone has room for beside the name. */
const MAX_AVATARS = 3;

function hereView(present: readonly Present[]): View {
  if (present.length === 0) return null;
  const words = hereInWords(present);
  const writes = present.some(({ isWriting }) => isWriting);
  return html`
    <span class="here" title=${words} data-writing=${writes ? '' : null}>
      ${present.slice(0, MAX_AVATARS).map(({ name }) => avatar(name))}
      <span class="here-words"><bdi>${words}</bdi></span>
    </span>
  `;
}

const namesOf = (present: readonly Present[]) =>
  new Intl.ListFormat('en').format(present.map(({ name }) => name));

const hereInWords = (present: readonly Present[]) =>
  `${namesOf(present)} ${present.length === 1 ? 'is' : 'are'} here too`;

function writingInWords(present: readonly Present[]): View {
  const writing = present.filter(({ isWriting }) => isWriting);
  if (writing.length === 0) return null;
  return html`<bdi>${namesOf(writing)}</bdi> ${writing.length === 1 ? 'is' : 'are'} writing…`;
}
