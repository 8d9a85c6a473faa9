import { parseUrlTemplate } from '../../domain/urlTemplate.ts';
import type { Tool } from '../../domain/tool.ts';
import { isBuiltIn, type Decision, type ToolCall } from '../../domain/toolCall.ts';
import type { Thread } from '../../domain/operations/readThread.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { timeView } from '../times.ts';
import type { ThreadParts } from './itemsView.ts';
import { sentenceOf } from './noteView.ts';
import { threadHref } from './place.ts';
import { argumentsView, nameOf, outcomeView, toneOf } from './toolCallView.ts';
import { CALL_LABELS, actorName } from './labels.ts';

export const MAX_REASON_CHARACTERS = 1000;

/** A tool call that a person decides about, or that a person has decided about. */
export function approvalCard(call: ToolCall, tool: Tool | null, parts: ThreadParts): View {
  const isWaiting = call.status === 'pending_approval';
  const name = nameOf(call);
  return html`
    <article class=${isWaiting ? 'approval waiting' : 'approval'} id=${call.id} aria-label=${`Approval of ${name}`}>
      <header><span>${titleOf(call, isWaiting)}</span> <span class=${`badge ${toneOf(call)}`}>${CALL_LABELS[call.status]}</span></header>
      ${argumentsView(call, tool)}
      <p class="muted">${destination(call, tool)}Asked ${timeView(call.createdAt, parts.now)}${call.expiresAt === null ? '' : html`, expires ${timeView(call.expiresAt, parts.now)}`}.</p>
      ${isWaiting ? decisionForms(call, name, parts) : endView(call, parts)}
    </article>
  `;
}

const titleOf = (call: ToolCall, isWaiting: boolean): View =>
  isBuiltIn(call)
    ? html`${isWaiting ? 'May the agent make a ' : ''}<b>${isWaiting ? 'payment link' : nameOf(call)}</b>${isWaiting ? '?' : ''}`
    : html`${isWaiting ? 'May the agent run' : 'Tool'} <b>${nameOf(call)}</b>${isWaiting ? '?' : ''}`;

/** The host that the call goes to, as the definition stands that the decision is bound to. */
function destination(call: ToolCall, tool: Tool | null): View {
  if (tool === null || tool.definitionHash !== call.definitionHash) return null;
  return html`Calls <b class="host">${hostOf(tool)}</b>. `;
}

const hostOf = ({ endpoint, requestTemplate }: Tool): string =>
  new URL(endpoint ?? parseUrlTemplate(requestTemplate!.url).origin).host;

function decisionForms(
  { id }: ToolCall,
  name: string,
  { signedIn, thread, place }: ThreadParts,
): View {
  const action = (verb: string) =>
    threadHref(thread.conversation.id, place, {}, `/tool-calls/${id}/${verb}`);
  return html`
    <div class="decision">
      <form method="post" action=${action('approve')} hx-sync="this:drop">${csrfField(signedIn)}<button id=${`approve-${id}`} aria-label=${`Approve ${name}`}>Approve</button></form>
      <details id=${`reject-${id}`}>
        <summary id=${`summary-${id}`} role="button" class="secondary outline" aria-label=${`Reject ${name}, with a reason`}>Reject…</summary>
        <form method="post" action=${action('reject')} hx-sync="this:drop">
          ${csrfField(signedIn)}
          <label for=${`reason-${id}`}>Reason, for your team and the agent</label>
          <input id=${`reason-${id}`} name="note" maxlength=${MAX_REASON_CHARACTERS} required autocomplete="off" />
          <button id=${`do-reject-${id}`} class="secondary" aria-label=${`Reject ${name}`}>Reject</button>
        </form>
      </details>
    </div>
  `;
}

/** How it was decided, or how the wait ended without a decision. */
const endView = (call: ToolCall, { thread, now }: ThreadParts): View => html`
  <p class="decided">${call.decision === null ? undecidedEnd(call, thread, now) : decidedBy(call, call.decision, now)}</p>
  ${outcomeView(call)}
`;

const decidedBy = (
  { status }: ToolCall,
  { approved, by, at, note }: Decision,
  now: Date,
): View => html`
  ${approved ? 'Approved' : 'Rejected'} by <b><bdi>${actorName(by)}</bdi></b>, ${timeView(at, now)}.${note === null ? null : html`${' '}Reason: <bdi class="text">${note}</bdi>`}${approved && status === 'cancelled' ? ' It was cancelled before it ran.' : null}
`;

function undecidedEnd(call: ToolCall, { items }: Thread, now: Date): View {
  const { status, finishedAt } = call;
  if (status === 'expired')
    return html`Nobody decided in time: it expired ${timeView(finishedAt, now)}.`;
  // one transaction has one time
  const cause = items.find((item) => item.type === 'note' && item.note.createdAt === finishedAt);
  if (cause?.type !== 'note')
    return html`Cancelled ${timeView(finishedAt, now)}, because ${isBuiltIn(call) ? 'payment links were switched off for the agent' : 'the tool was changed, paused or removed'}.`;
  return html`Cancelled ${timeView(finishedAt, now)}, when <bdi>${sentenceOf(cause.note)}</bdi>.`;
}
