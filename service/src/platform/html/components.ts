import { html, type View } from './html.ts';
import { timeView } from './times.ts';
import type { Viewer } from './viewer.ts';

/** Pieces that several screens have. */

type Attributes = Readonly<Record<string, unknown>>;
type HiddenValues = Readonly<Record<string, string | undefined>>;

/** The hidden field that proves that a form was made here. */
export const csrfField = ({ csrfToken }: Viewer): View =>
  html`<input type="hidden" name="csrf" value=${csrfToken} />`;

export const hiddenFields = (values: HiddenValues): View =>
  Object.entries(values).map(([name, value]) =>
    value === undefined ? null : html`<input type="hidden" name=${name} value=${value} />`,
  );

interface PostButton {
  readonly action: string;
  readonly label: View;
  /** Asked before the form is sent. */
  readonly confirm?: string;
  readonly hidden?: HiddenValues;
  readonly button?: Attributes;
  readonly form?: Attributes;
}

/** A form that is one button. */
export const postButton = (
  viewer: Viewer,
  { action, label, confirm, hidden = {}, button = {}, form = {} }: PostButton,
): View => html`
  <form method="post" action=${action} data-confirm=${confirm} ...${form}>
    ${csrfField(viewer)}${hiddenFields(hidden)}
    <button ...${button}>${label}</button>
  </form>
`;

/** @param id of the element whose text is copied. @param what as a screen reader says it */
export const copyButton = (id: string, what: string, style = 'small secondary'): View => html`
  <button class=${style} type="button" data-copy=${`#${id}`} aria-label=${`Copy ${what}`}>
    Copy
  </button>
`;

/** A value with its copy button. */
export const copyable = (id: string, value: string, what: string): View =>
  html`<code id=${id}>${value}</code> ${copyButton(id, what)}`;

/** A secret on the one page that shows it. copying.js removes it when the page is left. */
export const shownOnce = (title: string, intro: View, secret: string, next: View): View => html`
  <article class="once" data-shown-once aria-labelledby="once-title">
    <h2 id="once-title">${title}</h2>
    <p>${intro} Copy it now. You won’t be able to see it again.</p>
    <p class="row">${copyable('once', secret, 'the secret')}</p>
    ${next}
  </article>
`;

export const badge = (label: View, tone: 'good' | 'bad' | 'attention' | '' = ''): View =>
  html`<span class=${`badge ${tone}`.trim()}>${label}</span>`;

const AVATAR_HUES = 8;

/**
 * The initials of a name, or the last digits of a phone number. A name always has the same colour.
 * It is decoration.
 */
export const avatar = (name: string): View => {
  const words = name.match(/\p{L}[^\s]*/gu) ?? [];
  const first = words.length > 1 ? [words[0]!, words.at(-1)!] : words;
  const initials = first.map((word) => [...word][0]!.toUpperCase()).join('');
  const hash = [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) >>> 0, 7);
  return html`
    <span class=${`avatar hue-${hash % AVATAR_HUES}`} aria-hidden="true">
      ${initials || lastDigits(name)}
    </span>
  `;
};

const lastDigits = (phone: string) => phone.replace(/\D/g, '').slice(-2) || '?';

export const backLink = (href: string, label: string): View =>
  html`<p class="back"><a href=${href}>← ${label}</a></p>`;

/** The last test of a connection or a tool, with its result. */
export const testedView = (at: string, isOk: boolean, result: string, now: Date): View => html`
  <p>Tested ${timeView(at, now)}: <bdi class=${isOk ? 'said' : 'said problem'}>${result}</bdi></p>
`;

/** Links between the pages of a list: back to the newest entries, and on to older ones. */
export const pager = (
  label: string,
  { newest, older }: { readonly newest: string | null; readonly older: string | null },
): View =>
  newest === null && older === null
    ? null
    : html`
        <nav class="pages" aria-label=${label}>
          ${newest === null ? null : html`<a id="newest" href=${newest}>Newest</a>`}
          ${older === null ? null : html`<a id="older" href=${older}>Older</a>`}
        </nav>
      `;

/** Links that show a part of a list. */
export const filterLinks = <T>(
  label: string,
  current: T,
  filters: readonly { readonly value: T; readonly label: string; readonly href: string }[],
): View => html`
  <nav class="filters" aria-label=${label}>
    <ul>
      ${filters.map(
        ({ value, label: text, href }) => html`
          <li>
            <a href=${href} aria-current=${value === current ? 'true' : null}>${text}</a>
          </li>
        `,
      )}
    </ul>
  </nav>
`;

/** `/payments?status=open`; what is undefined is left out. */
export function addressWith(path: string, query: HiddenValues): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** "820 ms", "1.4 s", "2 min 5 s", "3 h 20 min", "4 d 6 h". */
export function durationInWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
