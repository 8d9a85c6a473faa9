import { addressWith, filterLinks } from '../../platform/html/components.ts';
import type { Subscription } from '../../deliveries/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import type { SignedIn } from '../../team/index.ts';
import type { FirstHour } from '../firstHour.ts';
import { percent } from '../charts/barList.ts';
import type { Figure } from '../charts/chart.ts';
import { DEFAULT_RANGE, type Range, RANGES, zoneName } from '../range.ts';
import { channelLabel, durationLabel } from '../words.ts';
import { type ChartParts, MEDIAN, firstLabelsOf } from './chartParts.ts';
import { conversationCharts } from './conversationCharts.ts';
import { deliveryCharts, subscriptionTable } from './deliveryCharts.ts';
import { firstHourView } from './firstHourView.ts';
import { toolTable, workCharts } from './workCharts.ts';

interface OverviewParts extends ChartParts {
  readonly subscriptions: readonly Subscription[];
  /** The channels that can be chosen in the filter. */
  readonly channels: readonly string[];
  /** Null when no first step is left to do. */
  readonly firstHour: FirstHour | null;
  /** The code of a notice. */
  readonly notice: unknown;
}

/** What happened in the workspace, in figures and charts. */
export const overviewPage = (viewer: SignedIn, parts: OverviewParts): View =>
  teamPage(
    viewer,
    { title: 'Overview', section: 'overview', notice: parts.notice },
    html`
      <div class="overview">
        <h1>Overview</h1>
        ${parts.firstHour === null ? null : firstHourView(viewer, parts.firstHour)}
        <div class="overview-filters">
          ${rangeLinks(parts)}
          ${parts.channels.length > 1 || parts.channel !== null ? channelLinks(parts) : null}
        </div>
        ${keyFigures(parts)}
        ${figuresView(figuresOf(parts))}
        ${
          parts.channel === null
            ? null
            : html`
              <p class="muted">
                Tools, approvals, payments and deliveries are counted for <a
                  href=${hrefOf(parts.range, null)}
                >
                  all channels
                </a> together.
              </p>
            `
        }
        ${timesNote(viewer, parts)}
      </div>
    `,
  );

const figuresOf = (parts: OverviewParts): readonly Figure[] => [
  ...conversationCharts(parts),
  ...(parts.channel === null
    ? [...workCharts(parts), ...deliveryCharts(parts), toolTable(parts), subscriptionTable(parts)]
    : []),
];

/** Figures with data come first, so that the empty ones leave no gaps between them. */
function figuresView(figures: readonly Figure[]): View {
  const { filled = [], empty = [] } = Object.groupBy(figures, ({ isEmpty }) =>
    isEmpty ? 'empty' : 'filled',
  );
  return html`
    ${
      filled.length === 0 ? null : html`<div class="charts">${filled.map(({ view }) => view)}</div>`
    }
    ${
      empty.length === 0
        ? null
        : html`<div class="empty-charts">${empty.map(({ view }) => view)}</div>`
    }
  `;
}

const timesNote = ({ member }: SignedIn, { range, timeZone }: OverviewParts): View => html`
  <p class="muted">
    ${range.period === 'hour' ? 'Hours' : 'Days'} are in the time zone ${zoneName(timeZone)}, ${' '}
    ${member.timeZone ? 'the one of ' : 'since you have not chosen one in '}
    <a href="/account">your account</a>.
    The last one is still running. Durations are accurate to about 10%.
  </p>
`;

const hrefOf = (range: Range, channel: string | null): string =>
  addressWith('/overview', {
    range: range.id === DEFAULT_RANGE.id ? undefined : range.id,
    channel: channel ?? undefined,
  });

const rangeLinks = ({ range, channel }: OverviewParts): View =>
  filterLinks(
    'Time',
    range.id,
    RANGES.map((each) => ({ value: each.id, label: each.label, href: hrefOf(each, channel) })),
  );

const channelLinks = ({ range, channel, channels }: OverviewParts): View =>
  filterLinks('Channel', channel, [
    { value: null, label: 'All channels', href: hrefOf(range, null) },
    ...channels.map((each) => ({
      value: each,
      label: channelLabel(each),
      href: hrefOf(range, each),
    })),
  ]);

function keyFigures(parts: ChartParts): View {
  const { total } = parts.counts;
  const firstLabels = firstLabelsOf(parts);
  const opened = total.sum('opened', ...firstLabels);
  const median = (name: 'first_answer' | 'resolution') => {
    const ms = total.percentile(name, MEDIAN, ...firstLabels);
    return ms === null ? '–' : durationLabel(ms);
  };
  const figures = [
    ['Opened', opened],
    ['Closed', total.sum('closed', ...firstLabels)],
    ['First answer, median', median('first_answer')],
    ['Resolution, median', median('resolution')],
    ['Handed over', percent(total.sum('opened_handed_over', ...firstLabels), opened)],
  ] as const;
  return html`
    <dl class="figures">
      ${figures.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
    </dl>
  `;
}
