import type { Tool } from '../../domain/tool.ts';
import type { ToolCall, ToolCallStatus } from '../../domain/toolCall.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';

/** Where a tool stands, in words. */
export interface ToolState {
  readonly label: 'Draft' | 'Tested' | 'Going live' | 'Live' | 'Paused';
  /** What that means, and what would change it. */
  readonly words: string;
}

export function stateOf(tool: Tool): ToolState {
  if (tool.status === 'live')
    return { label: 'Live', words: 'The agent calls this tool when it fits.' };
  if (tool.goLiveCallId !== null)
    return {
      label: 'Going live',
      words: 'A test call is under way. When it succeeds, the tool goes live by itself.',
    };
  if (tool.status === 'paused') return { label: 'Paused', words: 'The agent does not call it.' };
  if (tool.testedAt !== null)
    return {
      label: 'Tested',
      words:
        'A test call of this definition has succeeded: it can go live. Until then the agent does not call it.',
    };
  return { label: 'Draft', words: 'The agent does not call it yet.' };
}

/** Why a tool cannot go live; null when it can. */
export function whyNotLive(tool: Tool): string | null {
  if (tool.testedAt !== null) return null;
  if (tool.goLiveCallId !== null) return 'Go live is off while the test call runs.';
  const hasFailed = tool.lastTest !== null && !tool.lastTest.succeeded;
  if (hasFailed && tool.publication)
    return 'Go live is off: the last test call failed. Correct the workflow or its sample arguments, then publish it again.';
  if (hasFailed)
    return 'Go live is off: the last test call failed. It is on once a test call of this definition has succeeded.';
  return 'Go live is off until a test call of this definition has succeeded. Run one below.';
}

const TONES: Readonly<Record<ToolState['label'], string>> = {
  Draft: '',
  Tested: '',
  'Going live': '',
  Live: 'good',
  Paused: '',
};

export const stateBadge = (tool: Tool): View => {
  const { label } = stateOf(tool);
  return html`<span class=${`badge ${TONES[label]}`.trim()}>${label}</span>`;
};

const STATUS_WORDS: Readonly<Record<ToolCallStatus, string>> = {
  pending_approval: 'waits for approval',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
};

/** How a call stands or ended. */
export const callBadge = ({ status }: ToolCall): View =>
  html`<span class=${`badge ${status === 'succeeded' ? 'good' : status === 'failed' ? 'bad' : ''}`.trim()}>${STATUS_WORDS[status]}</span>`;

/** "failed, 5 minutes ago". */
export const lastCallView = (call: ToolCall | null, now: Date): View =>
  call === null
    ? html`<span class="muted">never</span>`
    : html`${callBadge(call)} ${timeView(call.createdAt, now)}`;
