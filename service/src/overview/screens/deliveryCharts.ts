import type { Subscription } from '../../deliveries/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { barChart } from '../charts/barChart.ts';
import { percent } from '../charts/barList.ts';
import { type Figure, valueInWords } from '../charts/chart.ts';
import { tableFigure } from '../charts/tableView.ts';
import { durationLabel } from '../words.ts';
import {
  type ChartParts,
  countChart,
  durationsView,
  MEDIAN,
  NINETIETH,
  perSlot,
} from './chartParts.ts';
import { shorten } from '../../platform/shorten.ts';

interface SubscriptionTableParts extends ChartParts {
  readonly subscriptions: readonly Subscription[];
}

/** The events that were sent to subscriptions. */
export const deliveryCharts = (parts: ChartParts): readonly Figure[] => [
  attempts(parts),
  durationsView(parts, {
    name: 'attempt_time',
    id: 'delivery-times',
    title: 'Latency of deliveries',
    span: 'From connecting to the end of the answer',
    whenEmpty: 'Once an event is sent, this chart shows how long its receiver took.',
  }),
];

function attempts(parts: ChartParts): Figure {
  const { total } = parts.counts;
  const results = total.eachBySecondLabel('attempt');
  const ended = total.eachBySecondLabel('delivery');
  const [succeeded, failed] = [results.get('succeeded') ?? 0, results.get('failed') ?? 0];
  const valuesOf = (result: 'succeeded' | 'failed') =>
    perSlot(parts, (counts) => counts.eachBySecondLabel('attempt').get(result) ?? 0);
  return countChart(
    parts,
    {
      id: 'deliveries',
      title: 'Delivery attempts',
      summary: `Attempts: ${succeeded + failed}, ${percent(failed, succeeded + failed)} failed. Deliveries: ${ended.get('delivered') ?? 0} arrived, ${ended.get('failed') ?? 0} failed for good.`,
      series: [
        { label: 'Succeeded', values: valuesOf('succeeded'), tone: 'good' },
        { label: 'Failed', values: valuesOf('failed'), tone: 'bad' },
      ],
      whenEmpty:
        'Events that are sent to your workflows are counted here. Publish a workflow with our trigger, or add a subscription.',
    },
    barChart,
  );
}

const MAX_SHOWN = 10;

/** The subscriptions that events were sent to, as a table. */
export function subscriptionTable({
  counts: { total },
  subscriptions,
}: SubscriptionTableParts): Figure {
  const known = new Map(subscriptions.map((each) => [each.id, each]));
  const rows = [...total.each('attempt')]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_SHOWN)
    .map(([id, made]) => {
      const failed = total.each('attempt', id).get('failed') ?? 0;
      const lost = total.each('delivery', id).get('failed') ?? 0;
      const time = (share: number) =>
        valueInWords(total.percentile('attempt_time', share, id), durationLabel);
      const name = nameOf(id, known.get(id));
      return [name, made, percent(failed, made), lost, time(MEDIAN), time(NINETIETH)];
    });
  return tableFigure(
    {
      id: 'subscriptions',
      title: 'Deliveries by subscription',
      summary: 'The subscriptions with the most attempts, their errors and their latency.',
      whenEmpty: 'Each subscription has its attempts, error rate and latency here.',
    },
    ['Subscription', 'Attempts', 'Error rate', 'Not delivered', 'Median', '90th percentile'],
    rows,
  );
}

const nameOf = (id: string, subscription: Subscription | undefined): View =>
  subscription === undefined
    ? html`Removed <span class="muted">${id}</span>`
    : html`<a href=${`/keys/subscriptions/${id}`}>${addressOf(subscription.targetUrl)}</a>`;

/** Host and path, without the end of a long one: `n8n.example.com/webhook/6f1c2a52-9d41-4…`. */
const addressOf = (targetUrl: string): string => {
  const { host, pathname } = new URL(targetUrl);
  return `${host}${shorten(pathname, MAX_PATH)}`;
};
const MAX_PATH = 24;
