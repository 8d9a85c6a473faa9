import { html, type View } from './html.ts';

/** An address in a text. Invisible and direction-changing characters end it. */
const ADDRESS = /https?:\/\/[^\s\p{C}<>"]+/giu;
/** An address without what ends the sentence around it. Greedy, so that it takes linear time. */
const WITHOUT_SENTENCE_END = /^.*[^.,;:!?'’”»)\]}…*_~]/u;

/**
 * Shows what somebody else wrote as plain text, with its web addresses as links. A link opens in a
 * new tab, sends no referrer, and tells search engines not to follow it.
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

/** A closing bracket stays when the address opens it, as in the address of a Wikipedia article. */
function trimmed(address: string): string {
  const [short] = WITHOUT_SENTENCE_END.exec(address)!;
  const isOpen = short.split('(').length > short.split(')').length;
  return isOpen && address[short.length] === ')' ? `${short})` : short;
}

/**
 * A user name before the host makes a link look like another site's:
 * https://bank.example@evil.example.
 */
function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username === '' && password === '';
}

const link = (address: string): View =>
  html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${address}</a>`;
