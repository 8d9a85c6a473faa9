import { formatAmount } from '../../platform/currency.ts';
import { type ApprovalOutcome, UNKNOWN_TOOL } from '../../tools/index.ts';
import { barChart } from '../charts/barChart.ts';
import { percent } from '../charts/barList.ts';
import { type Figure, valueInWords } from '../charts/chart.ts';
import { lineChart } from '../charts/lineChart.ts';
import { tableFigure } from '../charts/tableView.ts';
import type { Tally } from '../tally.ts';
import { durationLabel } from '../words.ts';
import { type ChartParts, countChart, MEDIAN, NINETIETH, perSlot } from './chartParts.ts';

/** Tools, approvals and payments. */
export const workCharts = (parts: ChartParts): readonly Figure[] => [
  toolCalls(parts),
  approvals(parts),
  payments(parts),
];

const sumOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, n) => sum + n, 0);

/**
 * Counts calls by how they ended. `failed` includes calls that the service refused. `notMade` are
 * the calls that were rejected, expired or cancelled.
 */
function endedCalls(counts: Tally): { succeeded: number; failed: number; notMade: number } {
  const statuses = counts.eachBySecondLabel('tool_call');
  const succeeded = statuses.get('succeeded') ?? 0;
  const failed = statuses.get('failed') ?? 0;
  return { succeeded, failed, notMade: sumOf(statuses) - succeeded - failed };
}

function toolCalls(parts: ChartParts): Figure {
  const { succeeded, failed, notMade } = endedCalls(parts.counts.total);
  const valuesOf = (what: keyof ReturnType<typeof endedCalls>) =>
    perSlot(parts, (counts) => endedCalls(counts)[what]);
  return countChart(
    parts,
    {
      id: 'tool-calls',
      title: 'Tool calls',
      summary: `${succeeded} succeeded, ${failed} failed (${percent(failed, succeeded + failed)}), ${notMade} were not made: rejected, expired or cancelled.`,
      series: [
        { label: 'Succeeded', values: valuesOf('succeeded'), tone: 'good' },
        { label: 'Not made', values: valuesOf('notMade'), tone: 'quiet' },
        { label: 'Failed', values: valuesOf('failed'), tone: 'bad' },
      ],
      whenEmpty:
        'What the agent does with its tools is counted here. Define a tool, test it and let it go live.',
    },
    barChart,
  );
}

const MAX_TOOLS_SHOWN = 10;

/** The tools that were called, as a table. */
export function toolTable({ counts: { total } }: ChartParts): Figure {
  const rows = [...total.each('tool_call')]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_TOOLS_SHOWN)
    .map(([tool, calls]) => {
      const statuses = total.each('tool_call', tool);
      const failed = statuses.get('failed') ?? 0;
      const tried = failed + (statuses.get('succeeded') ?? 0);
      const time = (share: number) =>
        valueInWords(total.percentile('tool_time', share, tool), durationLabel);
      const name = tool === UNKNOWN_TOOL ? 'A tool that does not exist' : tool;
      return [name, calls, percent(failed, tried), time(MEDIAN), time(NINETIETH)];
    });
  return tableFigure(
    {
      id: 'tools',
      title: 'Calls by tool',
      summary: 'The tools that were called most, with the time that their calls took.',
      whenEmpty: 'Each tool that is called has its calls, failures and times here.',
    },
    ['Tool', 'Calls', 'Failed', 'Median', '90th percentile'],
    rows,
  );
}

function approvals(parts: ChartParts): Figure {
  const { total } = parts.counts;
  const countOf = (counts: Tally, ...outcomes: readonly ApprovalOutcome[]) => {
    const byOutcome = counts.eachBySecondLabel('approval');
    return outcomes.reduce((sum, outcome) => sum + (byOutcome.get(outcome) ?? 0), 0);
  };
  const median = total.percentile('decision_time', MEDIAN);
  const time = median === null ? '' : ` Half were decided within ${durationLabel(median)}.`;
  const seriesOf = (label: string, ...outcomes: readonly ApprovalOutcome[]) => ({
    label,
    values: perSlot(parts, (counts) => countOf(counts, ...outcomes)),
  });
  return countChart(
    parts,
    {
      id: 'approvals',
      title: 'Approvals',
      summary: `${countOf(total, 'requested')} asked for: ${countOf(total, 'approved')} approved, ${countOf(total, 'rejected')} rejected, ${countOf(total, 'expired', 'cancelled')} not decided.${time}`,
      series: [
        { ...seriesOf('Approved', 'approved'), tone: 'good' },
        { ...seriesOf('Rejected', 'rejected'), tone: 'bad' },
        { ...seriesOf('Not decided', 'expired', 'cancelled'), tone: 'quiet' },
      ],
      whenEmpty:
        'What your team approves and rejects is counted here. Let a tool ask before it runs, or have a workflow ask.',
    },
    barChart,
  );
}

function payments(parts: ChartParts): Figure {
  const { total } = parts.counts;
  const amounts = [...total.each('paid_amount')].map(([currency, amount]) =>
    formatAmount(amount, currency),
  );
  const paid = total.sum('payment', 'paid');
  const sum = amounts.length === 0 ? '' : `: ${amounts.join(', ')}`;
  return countChart(
    parts,
    {
      id: 'payments',
      title: 'Payments',
      summary: `Links: ${total.sum('payment', 'made')} made, ${paid} paid${sum}.`,
      series: [
        {
          label: 'Links made',
          values: perSlot(parts, (counts) => counts.sum('payment', 'made')),
        },
        { label: 'Paid', values: perSlot(parts, (counts) => counts.sum('payment', 'paid')) },
      ],
      whenEmpty:
        'Payment links and what customers paid are counted here. Connect a provider, then make a link in a conversation.',
    },
    lineChart,
  );
}
