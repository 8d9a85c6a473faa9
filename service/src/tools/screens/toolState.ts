import type { Tool } from '../tool.ts';
import type { ToolCall } from '../calls/toolCall.ts';
import { badge } from '../../platform/html/components.ts';
import { callBadge } from './callBadge.ts';
import { isOwner, type SignedIn } from '../../team/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { timeView } from '../../platform/html/times.ts';

/** The label of a tool's state, and what the state means. */
export function stateOf(tool: Tool) {
  if (tool.status === 'live')
    return { label: 'Live', description: 'The agent calls this tool when it is useful.' };
  if (tool.goLiveCallId !== null)
    return {
      label: 'Going live',
      description: 'A test call is running. If it succeeds, the tool goes live by itself.',
    };
  if (tool.status === 'paused')
    return { label: 'Paused', description: 'The agent does not call this tool.' };
  if (tool.testedAt !== null)
    return {
      label: 'Tested',
      description:
        'A test call has succeeded, so the tool can go live. Until then, the agent does not call it.',
    };
  return { label: 'Draft', description: 'The agent does not call this tool yet.' };
}

/** Why a tool cannot go live; null when it can. */
export function whyNotLive(tool: Tool): string | null {
  if (tool.testedAt !== null) return null;
  if (tool.goLiveCallId !== null) return 'You can go live when the test call has succeeded.';
  const hasFailed = tool.lastTest !== null && !tool.lastTest.succeeded;
  if (hasFailed && tool.publication)
    return 'You can’t go live because the last test call failed. Correct the workflow or its sample arguments, then publish it again.';
  if (hasFailed)
    return 'You can’t go live because the last test call failed. Run a successful test call first.';
  return 'To go live, run a successful test call first.';
}

export const stateBadge = (tool: Tool): View => {
  const { label } = stateOf(tool);
  return badge(label, label === 'Live' ? 'good' : '');
};

export const agentOffNote = ({ member }: SignedIn): View =>
  isOwner(member)
    ? html`<p>The agent is off now, so it calls no tool. <a href="/agent">Turn it on</a> when customers may get its answers.</p>`
    : html`<p>The agent is off now, so it calls no tool. An owner can turn it on.</p>`;

/** How the last call ended and when: "failed" as a badge, "5 minutes ago". */
export const lastCallView = (call: ToolCall | null, now: Date): View =>
  call === null
    ? html`<span class="muted">never</span>`
    : html`${callBadge(call)} ${timeView(call.createdAt, now)}`;
