import type { Response } from 'express';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { permitted } from './permitted.ts';

export { html };

/**
 * A piece of a page. Everything put into a template is escaped, texts and attributes alike. There
 * is no other way to make HTML here.
 */
export type View = VNode | readonly View[] | string | number | null | false | undefined;

const Fragment = ({ children }: { children?: View }) => children as VNode;

const render = (view: View): string => renderToString(html`<${Fragment}>${view}<//>` as VNode);

/** Sends a whole page, with the response's own status unless another is given. */
export const sendPage = (response: Response, page: View, status = response.statusCode): void =>
  void response
    .status(status)
    .type('html')
    .send(`<!doctype html>\n${render(permitted(response, page))}`);

/** Sends a part of a page, which htmx puts in place. */
export const sendPart = (response: Response, part: View): void =>
  void response.type('html').send(render(permitted(response, part)));
