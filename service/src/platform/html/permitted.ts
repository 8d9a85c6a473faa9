import type { Response } from 'express';
import { html } from 'htm/preact';
import type { VNode } from 'preact';

/** As in html.ts, which uses this file. */
type View = VNode | readonly View[] | string | number | null | false | undefined;

/** Whether somebody may request an address. */
type May = (method: string, address: string) => boolean;

/** From here on, the response's pages have only the forms and links that its reader may use. */
export const showOnly = (response: Response, may: May): void => void (response.locals.may = may);

/** A page as its reader gets it. */
export function permitted(response: Response, view: View): View {
  const may = response.locals.may as May | undefined;
  return may ? without(view, may) : view;
}

interface Element {
  readonly type?: unknown;
  readonly props?: Readonly<Record<string, unknown>> & { readonly children?: View };
}

const INPUTS = new Set(['select', 'textarea']);

function without(view: View, may: May): View {
  if (Array.isArray(view)) return view.map((each: View) => without(each, may));
  if (view === null || typeof view !== 'object') return view;
  const { type, props } = view as Element;
  if (type === 'form' && !may(textOf(props?.method) ?? 'get', textOf(props?.action) ?? ''))
    return hasInputs(props?.children)
      ? (html`<p class="muted">Only an owner can change this.</p>` as VNode)
      : null;
  if (type === 'a' && !may('get', textOf(props?.href) ?? '')) return null;
  return props?.children === undefined
    ? view
    : ({ ...view, props: { ...props, children: without(props.children, may) } } as View);
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Whether somebody can fill it in: it is more than a button. */
function hasInputs(view: View): boolean {
  if (Array.isArray(view)) return view.some((each: View) => hasInputs(each));
  if (view === null || view === undefined || typeof view !== 'object') return false;
  const { type, props } = view as Element;
  return (
    (type === 'input' && props?.type !== 'hidden') ||
    INPUTS.has(String(type)) ||
    hasInputs(props?.children)
  );
}
