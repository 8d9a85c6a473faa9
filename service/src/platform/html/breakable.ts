import { html, type View } from './html.ts';

/** An address that may break behind `@`, a dot or a slash, before it breaks in the middle of a word. */
export const breakable = (address: string): View =>
  address.split(/(?<=[@./])(?=\w)/).map((part, at) => (at === 0 ? part : html`<wbr />${part}`));
