import { adapterOf } from '../channels/index.ts';
import {
  CHANNEL_TYPES,
  CONVERSATION_STATUSES,
  FUNNEL_STAGES,
  STAGE_LABELS,
} from '../conversations/index.ts';
import { hiddenFields } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { icon } from '../platform/html/icons.ts';
import type { Member } from '../team/index.ts';
import { isFiltered, NO_FILTER, type InboxFilter } from './filter.ts';
import { STATUS_LABELS } from './labels.ts';
import { hrefAt } from './links.ts';
import type { InboxPlace } from './listInbox.ts';

type FilterName = keyof InboxFilter;
type Option = readonly [value: string, label: string];

const CHANNEL_OPTIONS = CHANNEL_TYPES.map((type): Option => [type, adapterOf(type).label]);
const STAGE_OPTIONS = FUNNEL_STAGES.map((stage): Option => [stage, STAGE_LABELS[stage]]);
const STATUS_OPTIONS = CONVERSATION_STATUSES.map(
  (status): Option => [status, STATUS_LABELS[status]],
);

/** The form that filters the list. The page's address keeps the filter. */
export function filterForm(
  place: InboxPlace,
  members: readonly Pick<Member, 'id' | 'name'>[],
): View {
  const { tab, search, filter } = place;
  if (tab === 'approvals') return null;
  const options: Readonly<Record<FilterName, readonly Option[]>> = {
    channel: CHANNEL_OPTIONS,
    stage: STAGE_OPTIONS,
    status: tab === 'all' ? STATUS_OPTIONS : [],
    assignee: members.map(({ id, name }) => [id, name]),
  };
  const chosen = (Object.keys(LABELS) as FilterName[]).flatMap(
    (name) => options[name].find(([value]) => value === filter[name])?.[1] ?? [],
  );
  return html`
    <details class="filter" id="filter">
      <summary id="filter-summary" class=${chosen.length === 0 ? null : 'chosen'}>
        ${icon('funnel')}
        <span>Filter${chosen.length === 0 ? '' : html`: <bdi>${chosen.join(', ')}</bdi>`}</span>
      </summary>
      <form action="/conversations" method="get">
        ${hiddenFields({ tab: tab === 'all' ? undefined : tab, q: search || undefined })}
        ${(Object.keys(LABELS) as FilterName[]).map((name) => field(name, options[name], filter))}
        <div class="row">
          <button>Apply</button>
          ${
            isFiltered(filter)
              ? html`
                <a
                  id="filter-clear"
                  href=${hrefAt('/conversations', { ...place, filter: NO_FILTER, after: null })}
                >
                  Clear
                </a>
              `
              : null
          }
        </div>
      </form>
    </details>
  `;
}

const LABELS: Readonly<Record<FilterName, string>> = {
  channel: 'Channel',
  stage: 'Stage',
  status: 'Status',
  assignee: 'Assigned to',
};

const field = (name: FilterName, options: readonly Option[], filter: InboxFilter): View =>
  options.length === 0
    ? null
    : html`
        <label for=${`filter-${name}`}>${LABELS[name]}</label>
        <select id=${`filter-${name}`} name=${name}>
          <option value="">Any</option>
          ${options.map(
            ([value, label]) => html`
              <option value=${value} selected=${filter[name] === value}>${label}</option>
            `,
          )}
        </select>
      `;

/** Keeps the filter when another form of the list is sent. */
export const filterFields = (filter: InboxFilter): View =>
  hiddenFields(
    Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, value ?? undefined])),
  );
