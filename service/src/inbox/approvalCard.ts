import { type Tool, isBuiltIn, type ToolCall, parseUrlTemplate } from '../tools/index.ts';
import { html, type View } from '../platform/html/html.ts';
import type { Decision } from '../platform/decision.ts';
import { timeView } from '../platform/html/times.ts';
import { actorName, type Conversation } from '../conversations/index.ts';
import { callBadge } from '../tools/screens/callBadge.ts';
import type { Viewer } from '../platform/html/viewer.ts';
import { decisionForm } from '../waits/screens/decideForm.ts';
import { argumentsView, callName, resultView } from './toolCallView.ts';

interface ApprovalParts {
  readonly signedIn: Viewer;
  readonly now: Date;
  /** Its close may explain a cancelled call. Left out where only waiting calls are shown. */
  readonly conversation?: Conversation;
  /** Where the decision is posted. */
  readonly action: string;
}

/** A tool call that a person decides, or has decided. */
export function approvalCard(call: ToolCall, tool: Tool | null, parts: ApprovalParts): View {
  const { id, status, createdAt, expiresAt } = call;
  const isWaiting = status === 'pending_approval';
  const name = callName(call);
  return html`
    <article
      class=${isWaiting ? 'approval waiting' : 'approval'}
      id=${id}
      tabindex=${isWaiting ? -1 : null}
      aria-label=${`Approval of ${name}`}
    >
      <header><span>${titleView(call, isWaiting)}</span> ${callBadge(call)}</header>
      ${argumentsView(call, tool)}
      <p class="muted">
        ${destination(call, tool)}Requested ${timeView(createdAt, parts.now)}${
          expiresAt === null ? '' : html`, expires ${timeView(expiresAt, parts.now)}`
        }.
      </p>
      ${isWaiting ? approvalForm(call, name, parts) : decidedView(call, parts)}
    </article>
  `;
}

function titleView(call: ToolCall, isWaiting: boolean): View {
  if (!isWaiting) return html`${isBuiltIn(call) ? null : 'Tool '}<b>${callName(call)}</b>`;
  return isBuiltIn(call)
    ? html`Allow the agent to create a <b>payment link</b>?`
    : html`Allow the agent to run <b>${callName(call)}</b>?`;
}

/** The host that the call goes to, if the tool has not changed since. */
function destination(call: ToolCall, tool: Tool | null): View {
  if (tool === null || tool.definitionHash !== call.definitionHash) return null;
  const { endpoint, requestTemplate } = tool;
  const { host } = new URL(endpoint ?? parseUrlTemplate(requestTemplate!.url).origin);
  return html`Calls <b class="host">${host}</b>. `;
}

const approvalForm = ({ id }: ToolCall, name: string, { signedIn, action }: ApprovalParts): View =>
  decisionForm(signedIn, {
    id,
    action,
    approve: { label: 'Approve', attributes: { 'aria-label': `Approve ${name}` } },
    reject: { label: 'Reject', attributes: { 'aria-label': `Reject ${name}` } },
    note: { id: `reason-${id}`, label: 'Reason, for your team and the agent (optional)' },
  });

const decidedView = (call: ToolCall, { conversation, now }: ApprovalParts): View => html`
  <p class="decided">
    ${
      call.decision === null
        ? undecidedEnd(call, conversation, now)
        : decisionView(call, call.decision, now)
    }
  </p>
  ${resultView(call)}
`;

const decisionView = (
  { status }: ToolCall,
  { approved, by, at, note }: Decision,
  now: Date,
): View => html`
  ${approved ? 'Approved' : 'Rejected'} by <b><bdi>${actorName(by)}</bdi></b>, ${timeView(at, now)}.
  ${note === null ? null : html`${' '}Reason: <bdi class="text">${note}</bdi>`}
  ${approved && status === 'cancelled' ? ' Cancelled before it ran.' : null}
`;

function undecidedEnd(call: ToolCall, conversation: Conversation | undefined, now: Date): View {
  const { status, finishedAt } = call;
  if (status === 'expired') return html`Expired ${timeView(finishedAt, now)} without a decision.`;
  // Closing cancels the call in the same transaction, at the same time.
  const { outcome = null } = conversation ?? {};
  if (outcome?.closedAt === finishedAt)
    return html`
      Cancelled ${timeView(finishedAt, now)}, when <bdi>
        ${actorName(outcome.closedBy)}
      </bdi> closed the conversation.
    `;
  return html`Cancelled ${timeView(finishedAt, now)}, because ${
    isBuiltIn(call)
      ? 'payment links were turned off for the agent'
      : 'the tool was changed, paused or removed'
  }.`;
}
