import { actorName } from '../../conversations/index.ts';
import { badge } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { timeView } from '../../platform/html/times.ts';
import type { Wait, WaitStatus } from '../index.ts';

const LABELS: Readonly<Record<WaitStatus, string>> = {
  open: 'waits for a decision',
  answered: 'answered',
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'withdrawn',
  taken_over: 'taken over',
  closed: 'closed',
  undeliverable: 'not delivered',
  not_accepted: 'not accepted',
};

const TONES = { open: 'attention', approved: 'good', rejected: 'bad' } as const;

export const waitBadge = ({ status }: Wait): View =>
  badge(LABELS[status], status in TONES ? TONES[status as keyof typeof TONES] : '');

/** How a question to the customer ended, as a sentence. */
const REPLY_ENDS: Readonly<Record<Exclude<WaitStatus, 'open'>, string>> = {
  answered: 'The customer replied.',
  expired: 'The time for the customer’s reply is over.',
  cancelled: 'The workflow no longer waits for the customer’s reply.',
  taken_over:
    'A person took over or was asked for, so the workflow no longer waits for the customer’s reply.',
  closed: 'The conversation was closed before the customer replied to the workflow.',
  undeliverable: 'The workflow’s question could not be delivered.',
  not_accepted: 'The customer replied, but not with an answer that the workflow accepts.',
  approved: 'Approved.',
  rejected: 'Rejected.',
};

const replyEndInWords = ({ status, cancelledBy }: Wait): View => {
  if (cancelledBy !== undefined)
    return html`<bdi>${actorName(cancelledBy)}</bdi> cancelled the question of the workflow.`;
  return status === 'open' ? '' : REPLY_ENDS[status];
};

/** How a question to the customer ended, and whether the execution has gone on. */
export const replyInWords = (wait: Wait, now: Date): View =>
  wait.status === 'answered' && wait.resume.state === 'done'
    ? 'The workflow has its answer and has gone on.'
    : html`${replyEndInWords(wait)} ${resumeInWords(wait, now)}`;

/** Whether the execution has gone on, once the question has ended. */
export function resumeInWords({ resume, resumeHost }: Wait, now: Date): View {
  const { state, attempts, nextAt, problem } = resume;
  if (state === 'none') return null;
  if (state === 'done') return 'The workflow has gone on.';
  if (state === 'gave_up') return html`The workflow never collected this. <bdi>${problem}</bdi>`;
  const last = attempts.at(-1);
  if (!last) return 'The workflow is being told.';
  const tried = attempts.length === 1 ? 'tried once' : `tried ${attempts.length} times`;
  const what =
    last.status === null
      ? `n8n cannot be reached at ${resumeHost}`
      : (last.problem ?? 'The workflow has not gone on yet').replace(/\.$/, '');
  return html`
    <bdi>${what}</bdi>; ${tried}${
      nextAt === null ? '' : html`, next attempt ${timeView(nextAt, now)}`
    }.
  `;
}
