import { html, type View } from '../platform/html/html.ts';
import { threadHref } from './links.ts';
import type { InboxItem, InboxPlace, Match } from './listInbox.ts';
import { THREAD_PAGE } from './readThread.ts';

/** An excerpt of the message that a search found, with what matches marked. */
export const matchView = ({ excerpt }: Match): View =>
  excerpt.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : text));

/** Leads to the message that matches, on the page that has it; else to the newest messages. */
export function itemHref(
  { conversation: { id, messageCount }, match }: InboxItem,
  place: InboxPlace,
) {
  if (match === null) return threadHref(id, place);
  const { number } = match.message;
  const isOnNewestPage = number > messageCount - THREAD_PAGE;
  const before = isOnNewestPage ? null : number + THREAD_PAGE / 2;
  return `${threadHref(id, place, { before })}#${match.message.id}`;
}
