import type { Response } from 'express';
import { html } from 'htm/preact';
import type { VNode } from 'preact';

/** The type of html.ts, which imports this file. */
type View = VNode | readonly View[] | string | number | null | false | undefined;

/** Whether somebody may request an address. */
type May = (method: string, address: string) => boolean;

/** From here on, the response's pages leave out forms and links that the reader may not use. */
export const showOnlyPermitted = (response: Response, may: May): void =>
  void (response.locals.may = may);

/** The page without the forms and links that its reader may not use. */
export function permitted(response: Response, view: View): View {
  const may = response.locals.may as May | undefined;
  return may ? withoutForbidden(view, may) : view;
}

interface Element {
  readonly type?: unknown;
  readonly props?: Readonly<Record<string, unknown>> & { readonly children?: View };
}

const INPUTS = new Set(['select', 'textarea']);

/** Elements that go when nothing is left in them. Table cells stay, to keep their columns. */
const CONTAINERS = new Set(['section', 'div', 'p']);

function withoutForbidden(view: View, may: May): View {
  if (Array.isArray(view)) return view.map((each: View) => withoutForbidden(each, may));
  if (view === null || typeof view !== 'object') return view;
  const { type, props } = view as Element;
  if (type === 'form' && !may(textOf(props?.method) ?? 'get', textOf(props?.action) ?? ''))
    return hasInputs(props?.children)
      ? (html`<p class="muted">Only an owner can change this.</p>` as VNode)
      : null;
  if (type === 'a' && !may('get', textOf(props?.href) ?? '')) return null;
  if (props?.children === undefined) return view;
  const children = withoutForbidden(props.children, may);
  if (type === 'details' && isWithheldForm(props.children, children)) return null;
  const isEmptied = isEmpty(children) && !isEmpty(props.children);
  if (isEmptied && CONTAINERS.has(String(type))) return null;
  return { ...view, props: { ...props, children } } as View;
}

/** Whether a `details` element only opens a form that the reader may not send. */
const isWithheldForm = (all: View, remaining: View): boolean =>
  hasElement(all, isFormOpener) && hasElement(all, isForm) && !hasElement(remaining, isForm);

const isForm = ({ type }: Element): boolean => type === 'form';

const isFormOpener = ({ type, props }: Element): boolean =>
  type === 'summary' && props?.class === 'open-form';

/** Whether the view, or something in it, is an element that matches. */
function hasElement(view: View, matches: (element: Element) => boolean): boolean {
  if (Array.isArray(view)) return view.some((each: View) => hasElement(each, matches));
  if (view === null || typeof view !== 'object') return false;
  return matches(view as Element) || hasElement((view as Element).props?.children, matches);
}

function isEmpty(view: View): boolean {
  if (Array.isArray(view)) return view.every((each: View) => isEmpty(each));
  return view === null || view === undefined || view === false || view === '';
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Whether a form has something to fill in, and not only a button. */
const hasInputs = (view: View): boolean => hasElement(view, isInput);

const isInput = ({ type, props }: Element): boolean =>
  (type === 'input' && props?.type !== 'hidden') || INPUTS.has(String(type));
