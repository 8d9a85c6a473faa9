import {
  readPaymentLink,
  type Tool,
  isBuiltIn,
  resultBeginning,
  type ToolCall,
} from '../tools/index.ts';
import { formatAmount } from '../platform/currency.ts';
import { paymentAdapterOf } from '../payments/index.ts';
import { durationInWords } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { timeView } from '../platform/html/times.ts';
import { readableName, valuesView, valueView } from '../platform/html/values.ts';
import { callBadge } from '../tools/screens/callBadge.ts';

/** A tool call, folded. It shows the name and status, and inside the arguments and the result. */
export const toolCallView = (call: ToolCall, tool: Tool | null, now: Date): View => html`
  <details class="call" id=${call.id}>
    <summary id=${`summary-${call.id}`}>
      <span>${isBuiltIn(call) ? null : 'Tool '}<b>${callName(call)}</b></span>
      ${callBadge(call)}
      ${timeView(call.createdAt, now)}
    </summary>
    ${argumentsView(call, tool)}
    ${resultView(call)}
  </details>
`;

export const callName = (call: ToolCall): string =>
  isBuiltIn(call) ? 'Payment link' : readableName(call.tool);

/** The arguments of a call. Their labels come from the tool's schema, if it has not changed since. */
export function argumentsView(call: ToolCall, tool: Tool | null): View {
  const link = paymentLinkView(call);
  if (link !== null) return link;
  if (Object.keys(call.arguments).length === 0) return html`<p class="muted">No arguments.</p>`;
  const isSameTool = tool?.definitionHash === call.definitionHash;
  return valuesView(call.arguments, isSameTool ? tool?.parameters : undefined);
}

/** The payment link that the agent asks for; null for other calls, and for refused arguments. */
function paymentLinkView(call: ToolCall): View | null {
  if (!isBuiltIn(call) || call.provider === undefined) return null;
  const read = readPaymentLink(call.arguments, call.provider);
  if (read.problem !== null) return null;
  const { amount, currency, description } = read.request;
  const row = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd><bdi class="text">${value}</bdi></dd></div>`;
  return html`
    <dl class="values">
      ${row('Amount', `${formatAmount(amount, currency)} (${currency.toUpperCase()})`)}
      ${row('For', description)}
      ${row('Provider', paymentAdapterOf(call.provider).label)}
    </dl>
  `;
}

/** The attempts, error and result of a call. A payment link itself is shown in the thread. */
export const resultView = (call: ToolCall): View => html`
  ${call.attempts === 0 ? null : html`<p class="muted">${attemptsInWords(call)}</p>`}
  ${call.error === null ? null : html`<p class="problem">${call.error.message}</p>`}
  ${
    call.status === 'succeeded' && !isBuiltIn(call)
      ? html`
        <p class="part">Result</p>
        <div class="result">${valueView(resultBeginning(call))}</div>
      `
      : null
  }
`;

const attemptsInWords = ({ attempts, httpStatus, durationMs, isUnderWay }: ToolCall): string =>
  [
    attempts === 1 ? '1 attempt' : `${attempts} attempts`,
    isUnderWay ? 'in progress' : null,
    httpStatus === null ? null : `status ${httpStatus}`,
    isUnderWay && attempts === 1 ? null : durationInWords(durationMs),
  ]
    .filter(Boolean)
    .join(', ');
