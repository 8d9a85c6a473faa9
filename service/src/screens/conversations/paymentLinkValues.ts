import { readPaymentLink } from '../../domain/builtInTools.ts';
import { formatAmount } from '../../domain/currency.ts';
import { isBuiltIn, type ToolCall } from '../../domain/toolCall.ts';
import { paymentAdapterOf } from '../../payments/registry.ts';
import { html, type View } from '../html.ts';

/**
 * What a payment link is asked for: the amount as the customer will read it. Null for another call,
 * and for arguments that were refused.
 */
export function paymentLinkValues(call: ToolCall): View | null {
  if (!isBuiltIn(call) || call.provider === undefined) return null;
  const { label, rules } = paymentAdapterOf(call.provider);
  const read = readPaymentLink(call.arguments, rules);
  if (read.problem !== null) return null;
  const { amount, currency, description } = read.asked;
  const row = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd><bdi class="text">${value}</bdi></dd></div>`;
  return html`<dl class="values">${row('Amount', `${formatAmount(amount, currency)} (${currency.toUpperCase()})`)}${row('For', description)}${row('Paid through', label)}</dl>`;
}
