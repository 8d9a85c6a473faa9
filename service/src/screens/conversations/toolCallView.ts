import type { Tool } from '../../domain/tool.ts';
import { isBuiltIn, resultBeginning, type ToolCall } from '../../domain/toolCall.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';
import { paymentLinkValues } from './paymentLinkValues.ts';
import { readableName, valuesView, valueView } from './valuesView.ts';
import { CALL_LABELS } from './labels.ts';

/**
 * A tool call folded in: its name and how it stands; inside what it was given and what came of it.
 */
export const toolCallView = (call: ToolCall, tool: Tool | null, now: Date): View => html`
  <details class="call" id=${call.id}>
    <summary id=${`summary-${call.id}`}><span>${isBuiltIn(call) ? null : 'Tool '}<b>${nameOf(call)}</b></span> <span class=${`badge ${toneOf(call)}`}>${CALL_LABELS[call.status]}</span> ${timeView(call.createdAt, now)}</summary>
    ${argumentsView(call, tool)}
    ${outcomeView(call)}
  </details>
`;

/** What a call is called on the screens. */
export const nameOf = (call: ToolCall): string =>
  isBuiltIn(call) ? 'Payment link' : readableName(call.tool);

export const toneOf = ({ status }: ToolCall): string =>
  status === 'succeeded'
    ? 'good'
    : status === 'failed'
      ? 'bad'
      : status === 'pending_approval'
        ? 'attention'
        : '';

/** The labels are of the tool's schema while it is the one that the call was made for. */
export const argumentsView = (call: ToolCall, tool: Tool | null): View =>
  paymentLinkValues(call) ??
  (Object.keys(call.arguments).length === 0
    ? html`<p class="muted">No arguments.</p>`
    : valuesView(
        call.arguments,
        tool?.definitionHash === call.definitionHash ? tool.parameters : undefined,
      ));

/** What came of it: attempts, error, result. A payment link stands in the thread itself. */
export const outcomeView = (call: ToolCall): View => html`
  ${call.attempts === 0 ? null : html`<p class="muted">${attemptsOf(call)}</p>`}
  ${call.error === null ? null : html`<p class="problem">${call.error.message}</p>`}
  ${call.status === 'succeeded' && !isBuiltIn(call) ? html`<p class="part">Result</p><div class="result">${valueView(resultBeginning(call))}</div>` : null}
`;

function attemptsOf({ attempts, httpStatus, durationMs, isUnderWay }: ToolCall): string {
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return [
    tried,
    isUnderWay ? 'under way' : null,
    httpStatus === null ? null : `answered ${httpStatus}`,
    durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`,
  ]
    .filter(Boolean)
    .join(', ');
}
