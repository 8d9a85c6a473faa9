import { assetUrl, type AssetName } from './assets.ts';
import { avatar } from './components.ts';
import { icon, mark, type IconName } from './icons.ts';
import { html, type View } from './html.ts';
import { livePage, reloadsOn } from './liveSection.ts';
import { noticeView } from './notices.ts';
import type { Viewer } from './viewer.ts';

/** htmx without what a strict CSP forbids. Error pages are shown like any other page. */
const HTMX_CONFIG = JSON.stringify({
  includeIndicatorStyles: false,
  allowEval: false,
  allowScriptTags: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
  scrollBehavior: 'instant',
  responseHandling: [
    { code: '204', swap: false },
    { code: '401', swap: false, error: true },
    { code: '...', swap: true },
  ],
});

/**
 * Sections that need no styles but app.css. On their pages, app.js turns on sections.css when the
 * reader follows a link.
 */
const NEED_ONLY_APP_CSS: readonly (Section | undefined)[] = ['conversations', 'waiting'];

const head = ({
  title,
  section,
  loadsFormScripts = true,
  scripts = [],
  count = '',
}: Pick<TeamPage, 'title' | 'section' | 'loadsFormScripts' | 'scripts'> & {
  readonly count?: string;
}) => html`
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="htmx-config" content=${HTMX_CONFIG} />
    <title>${count === '' ? '' : `(${count}) `}${title} · Conversation Service</title>
    <link rel="icon" type="image/svg+xml" href=${assetUrl('mark.svg')} />
    <link rel="stylesheet" href=${assetUrl('app.css')} />
    <link
      rel=${NEED_ONLY_APP_CSS.includes(section) ? 'alternate' : 'stylesheet'}
      id="sections"
      href=${assetUrl('sections.css')}
    />
    <script src=${assetUrl('htmx.js')} defer></script>
    <script type="module" src=${assetUrl('app.js')}></script>
    ${[...(loadsFormScripts ? ['writing.js' as const] : []), ...scripts].map(
      (name) => html`<script type="module" src=${assetUrl(name)}></script>`,
    )}
  </head>
`;

/** A page for someone who is not signed in. */
export const plainPage = (title: string, content: View): View => html`
  <html lang="en">
    ${head({ title })}
    <body class="plain">
      <main>
        ${mark(40)}
        ${content}
      </main>
    </body>
  </html>
`;

/** The groups of the navigation. The heading of the first one is for screen readers only. */
const GROUPS = ['Work', 'Automation', 'Business'] as const;

interface SectionLink {
  readonly id: string;
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: (typeof GROUPS)[number];
}

export const SECTIONS = [
  { id: 'overview', href: '/overview', label: 'Overview', icon: 'layout-dashboard', group: 'Work' },
  {
    id: 'conversations',
    href: '/conversations',
    label: 'Conversations',
    icon: 'inbox',
    group: 'Work',
  },
  { id: 'waiting', href: '/waiting', label: 'Decisions', icon: 'hourglass', group: 'Work' },
  { id: 'agent', href: '/agent', label: 'Agent', icon: 'bot', group: 'Automation' },
  { id: 'tools', href: '/tools', label: 'Tools', icon: 'wrench', group: 'Automation' },
  {
    id: 'keys',
    href: '/keys',
    label: 'Keys and subscriptions',
    icon: 'key-round',
    group: 'Automation',
  },
  { id: 'channels', href: '/channels', label: 'Channels', icon: 'radio', group: 'Business' },
  { id: 'payments', href: '/payments', label: 'Payments', icon: 'credit-card', group: 'Business' },
  { id: 'team', href: '/team', label: 'Team', icon: 'users', group: 'Business' },
  { id: 'settings', href: '/settings', label: 'Settings', icon: 'settings', group: 'Business' },
] as const satisfies readonly SectionLink[];
export type Section = (typeof SECTIONS)[number]['id'] | 'account';

/** The section to which a path belongs. */
export const sectionAt = (path: string): (typeof SECTIONS)[number] | undefined =>
  SECTIONS.find(({ href }) => path === href || path.startsWith(`${href}/`));

interface TeamPage {
  readonly title: string;
  readonly section?: Section;
  /** A code in notices.ts. */
  readonly notice?: unknown;
  /** Fills the window: its panes scroll, the page does not. */
  readonly wide?: boolean;
  /** False where there are only links and searches: scripts for forms load with the next page. */
  readonly loadsFormScripts?: boolean;
  /** The scripts that it needs besides those of every page. */
  readonly scripts?: readonly AssetName[];
}

/** A page for members, with the navigation. */
export const teamPage = (
  viewer: Viewer,
  { notice, wide = false, ...page }: TeamPage,
  content: View,
): View => html`
  <html lang="en">
    ${head({ ...page, count: viewer.counts?.conversations })}
    <body
      class="app"
      hx-boost="true"
      hx-headers=${JSON.stringify({ 'X-CSRF-Token': viewer.csrfToken })}
    >
      <a class="skip" href="#main">Skip to content</a>
      ${sidebar(viewer, page.section)}
      <main id="main" class=${wide ? 'fills' : null} tabindex="-1">${content}</main>
      ${noticeView(notice)}
      ${livePage(viewer)}
    </body>
  </html>
`;

/**
 * The navigation on the left. On a phone it is a bar with a menu, which the browser itself opens
 * and closes.
 */
const sidebar = (viewer: Viewer, section: Section | undefined): View => html`
  <header class="side">
    <nav aria-label="Main">
      <a class="brand" href="/">
        ${mark(28)}
        <span>${viewer.workspace.name}</span>
      </a>
      <button class="menu" type="button" popovertarget="menu" aria-label="Menu">
        ${icon('menu')}
      </button>
      <div id="menu" popover="auto">
        ${GROUPS.map((group) => groupView(group, section, viewer))}
        <a class="me" href="/account" aria-current=${section === 'account' ? 'page' : null}>
          ${avatar(viewer.member.name)}<span>${viewer.member.name}</span>
        </a>
      </div>
    </nav>
  </header>
`;

const groupView = (
  group: (typeof GROUPS)[number],
  section: Section | undefined,
  { counts }: Viewer,
): View => html`
  <p class=${group === GROUPS[0] ? 'visually-hidden' : 'group'} id=${`nav-${group}`}>${group}</p>
  <ul aria-labelledby=${`nav-${group}`}>
    ${SECTIONS.filter((each) => each.group === group).map(
      ({ id, href, label, icon: name }) => html`
        <li>
          <a href=${href} aria-current=${id === section ? 'page' : null}>
            ${icon(name)}<span>${label}</span>${countView(id, counts)}
          </a>
        </li>
      `,
    )}
  </ul>
`;

/** How much waits in a section. It comes with the page, and loads again when it has changed. */
function countView(id: Section, counts: Viewer['counts']): View {
  switch (id) {
    case 'conversations':
      return liveCount(id, 'Customers waiting for an answer', counts?.conversations);
    case 'waiting':
      return liveCount(id, 'Waiting for a decision', counts?.decisions);
    default:
      return null;
  }
}

const liveCount = (
  id: 'conversations' | 'waiting',
  title: string,
  count: string | undefined,
): View => html` <span
  id=${`${id}-count`}
  class="count"
  data-live
  hx-get=${`/${id}/count`}
  hx-trigger=${reloadsOn(id)}
  title=${title}
>
  ${count}
</span>`;
