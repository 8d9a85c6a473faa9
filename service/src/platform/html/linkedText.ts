import { html, type View } from './html.ts';

/** An address in a text. Invisible and direction-changing characters end it. */
const ADDRESS = /https?:\/\/[^\s\p{C}<>"]+/giu;
/** What ends a sentence does not belong to the address before it. */
const SENTENCE_END = /[.,;:!?'’”»)\]}…*_~]+$/u;

/**
 * A text that somebody else wrote, in which web addresses are links. Nothing else of it is markup.
 * The link opens beside the page, tells the other site nothing, and earns it no rank.
 */
export function linkedText(text: string): View {
  const parts: View[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = trimmed(found);
    if (!isSafe(address)) continue;
    parts.push(text.slice(end, index), link(address));
    end = index + address.length;
  }
  return parts.length === 0 ? text : [...parts, text.slice(end)];
}

/** A closing bracket stays when the address opens it, as in a title of Wikipedia. */
function trimmed(address: string): string {
  const short = address.replace(SENTENCE_END, '');
  const rest = address.slice(short.length);
  return rest.startsWith(')') && short.includes('(') ? `${short})` : short;
}

/** A name before the host makes a link look like another site's. */
function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password, hostname } = new URL(address);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && hostname !== '' && username === '' && password === '';
}

const link = (address: string): View =>
  html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${address}</a>`;
