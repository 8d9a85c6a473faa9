import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

export { html };

/**
 * A piece of a page. Everything put into it is escaped: text and attributes alike, whatever a
 * customer wrote. There is no other way to make HTML here.
 */
export type View = VNode | readonly View[] | string | number | null | false | undefined;

/** A fragment, to be swapped into a page. */
export const render = (view: View): string =>
  renderToString(html`<${Fragment}>${view}<//>` as VNode);

/** A whole document. */
export const renderDocument = (view: View): string => `<!doctype html>\n${render(view)}`;

const Fragment = ({ children }: { children?: View }) => children as VNode;
