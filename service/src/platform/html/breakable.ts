import { html, type View } from './html.ts';

/** Lets an address wrap after `@`, a dot or a slash, rather than in the middle of a word. */
export const breakable = (address: string): View =>
  address.split(/(?<=[@./])(?=\w)/).map((part, at) => (at === 0 ? part : html`<wbr />${part}`));
