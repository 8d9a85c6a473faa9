import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { html, type View } from './html.ts';

/** The icons that the screens use, by their names at lucide.dev. */
const ICON_NAMES = [
  'bell',
  'bot',
  'credit-card',
  'ellipsis',
  'file-text',
  'funnel',
  'hourglass',
  'image',
  'inbox',
  'key-round',
  'keyboard',
  'layout-dashboard',
  'map-pin',
  'menu',
  'mic',
  'radio',
  'search',
  'settings',
  'user-round',
  'users',
  'video',
  'wrench',
  'x',
] as const;
export type IconName = (typeof ICON_NAMES)[number];

type Shape = readonly [tag: string, attributes: Readonly<Record<string, string>>];

const SHAPES = readShapes();

function readShapes(): Readonly<Record<IconName, readonly Shape[]>> {
  const path = createRequire(import.meta.url).resolve('lucide-static/icon-nodes.json');
  const all = JSON.parse(readFileSync(path, 'utf8')) as Record<string, readonly Shape[]>;
  const used = ICON_NAMES.map((name) => {
    if (!all[name]) throw new Error(`Lucide has no icon ${name}`);
    return [name, all[name]] as const;
  });
  return Object.fromEntries(used) as Record<IconName, readonly Shape[]>;
}

/**
 * An icon in the size and the colour of the text beside it. It says nothing to a screen reader:
 * the control around it has a name of its own.
 */
export const icon = (name: IconName): View => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    ${SHAPES[name].map(([tag, attributes]) => html`<${tag} ...${attributes} />`)}
  </svg>
`;

/** The logo in assets/mark.svg, inline, so that a page does not load it. It is decoration. */
export const mark = (size: number): View => html`
  <svg class="mark" viewBox="0 0 32 32" width=${size} height=${size} aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M9 8.5h14a3 3 0 0 1 3 3v7a3 3 0 0 1-3 3h-7.5L10.4 25.6A.85.85 0 0 1 9 25v-3.5a3 3 0 0 1-3-3v-7a3 3 0 0 1 3-3Z" />
    <path d="m12.5 15 2.6 2.6 5-5" />
  </svg>
`;
