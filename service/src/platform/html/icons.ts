import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { html, type View } from './html.ts';

/** The icons of the screens, by their names at lucide.dev. One that is used is in this list. */
const ICON_NAMES = [
  'activity',
  'archive',
  'arrow-left',
  'at-sign',
  'bell',
  'bot',
  'calendar',
  'chart-column',
  'check',
  'check-check',
  'chevron-down',
  'chevron-left',
  'chevron-right',
  'circle-alert',
  'circle-check',
  'circle-question-mark',
  'circle-user',
  'circle-x',
  'clock',
  'copy',
  'credit-card',
  'download',
  'ellipsis',
  'external-link',
  'eye',
  'file-text',
  'funnel',
  'hand',
  'hash',
  'hourglass',
  'image',
  'inbox',
  'info',
  'key-round',
  'keyboard',
  'layout-dashboard',
  'link',
  'list-checks',
  'lock',
  'log-out',
  'mail',
  'map-pin',
  'menu',
  'mic',
  'message-circle',
  'message-square',
  'message-square-text',
  'message-square-plus',
  'messages-square',
  'panel-right',
  'pause',
  'pencil',
  'phone',
  'play',
  'plus',
  'radio',
  'refresh-cw',
  'rotate-ccw',
  'search',
  'send',
  'settings',
  'shield-check',
  'sticky-note',
  'tag',
  'trash',
  'triangle-alert',
  'user',
  'user-plus',
  'user-round',
  'users',
  'video',
  'webhook',
  'wifi-off',
  'workflow',
  'wrench',
  'x',
  'zap',
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
  <svg
    class="icon"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    ${SHAPES[name].map(([tag, attributes]) => html`<${tag} ...${attributes} />`)}
  </svg>
`;
