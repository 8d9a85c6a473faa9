import type { AnsweredBy, HandoverReason } from '../../conversations/index.ts';
import { barChart } from '../charts/barChart.ts';
import { barListView, percent } from '../charts/barList.ts';
import type { Figure } from '../charts/chart.ts';
import { lineChart } from '../charts/lineChart.ts';
import type { Tally } from '../tally.ts';
import { ANSWERED_BY_LABELS, HANDOVER_LABELS } from '../words.ts';
import {
  type ChartParts,
  countChart,
  durationsView,
  firstLabelsOf,
  perSlot,
} from './chartParts.ts';

export const conversationCharts = (parts: ChartParts): readonly Figure[] => [
  openedAndClosed(parts),
  answers(parts),
  durationsView(parts, {
    name: 'first_answer',
    firstLabels: firstLabelsOf(parts),
    id: 'first-answer',
    title: 'Time to the first answer',
    span: 'From a customer’s first message to the first answer',
    whenEmpty: 'Once a conversation is answered, this chart shows how long the customer waited.',
  }),
  durationsView(parts, {
    name: 'resolution',
    firstLabels: firstLabelsOf(parts),
    id: 'resolution',
    title: 'Time to resolution',
    span: 'From a customer’s first message until the conversation is closed',
    whenEmpty: 'Once a conversation is closed, this chart shows how long it was open.',
  }),
  handovers(parts),
];

function openedAndClosed(parts: ChartParts): Figure {
  const firstLabels = firstLabelsOf(parts);
  const { total } = parts.counts;
  const seriesOf = (label: string, name: 'opened' | 'closed') => ({
    label,
    values: perSlot(parts, (counts) => counts.sum(name, ...firstLabels)),
  });
  return countChart(
    parts,
    {
      id: 'conversations',
      title: 'Conversations',
      summary: `${total.sum('opened', ...firstLabels)} opened, ${total.sum('closed', ...firstLabels)} closed.`,
      series: [seriesOf('Opened', 'opened'), seriesOf('Closed', 'closed')],
      whenEmpty:
        'Conversations that open and close are counted here. Connect a channel, or write to the web chat yourself.',
    },
    lineChart,
  );
}

function answers(parts: ChartParts): Figure {
  const { total } = parts.counts;
  const eachOf = (counts: Tally) => byAnswerer(counts, parts.channel);
  const totals = eachOf(total);
  const shown = (Object.keys(ANSWERED_BY_LABELS) as AnsweredBy[]).filter((by) => totals.has(by));
  const sum = [...totals.values()].reduce((all, n) => all + n, 0);
  const shares = shown.map((by) => `${ANSWERED_BY_LABELS[by]} ${percent(totals.get(by)!, sum)}`);
  return countChart(
    parts,
    {
      id: 'answers',
      title: 'Who answered',
      summary: `${sum} messages to customers: ${shares.join(', ')}.`,
      series: shown.map((by) => ({
        label: ANSWERED_BY_LABELS[by],
        values: perSlot(parts, (counts) => eachOf(counts).get(by) ?? 0),
      })),
      whenEmpty:
        'Answers are counted here by who wrote them: the agent, a workflow or your team. Turn the agent on, or answer a conversation.',
    },
    barChart,
  );
}

const byAnswerer = (counts: Tally, channel: string | null): ReadonlyMap<string, number> =>
  channel === null ? counts.eachBySecondLabel('answered') : counts.each('answered', channel);

function handovers(parts: ChartParts): Figure {
  const firstLabels = firstLabelsOf(parts);
  const { total } = parts.counts;
  const reasons =
    parts.channel === null
      ? total.eachBySecondLabel('handed_over')
      : total.each('handed_over', parts.channel);
  const opened = total.sum('opened', ...firstLabels);
  const handedOver = total.sum('opened_handed_over', ...firstLabels);
  return barListView({
    id: 'handovers',
    title: 'Handed over to a person',
    summary: `${handedOver} of the ${opened} conversations opened in this time (${percent(handedOver, opened)}) left the agent at least once. All handovers, by reason:`,
    itemTitle: 'Reason',
    items: Object.entries(HANDOVER_LABELS).map(([reason, label]) => ({
      label,
      n: reasons.get(reason as HandoverReason) ?? 0,
    })),
    whenEmpty: 'When the agent hands over, or a person takes over, the reasons are counted here.',
  });
}
