import type { TriedCall, TriedStep } from '../tryAgent.ts';
import { html, type View } from '../../platform/html/html.ts';

/** What the agent would do about a message. */
export const triedView = (step: TriedStep, agentName: string): View =>
  html`<article class="tried">${stepView(step, agentName)}</article>`;

function stepView(step: TriedStep, agentName: string): View {
  switch (step.type) {
    case 'reply':
      return html`
        <h3>It would reply</h3>
        ${said(agentName, step.text)}
        ${qualified(step.qualify)}
        ${step.close === null ? null : html`<p>Then it would close the conversation as <strong>${step.close.verdict.replaceAll('_', ' ')}</strong>: ${step.close.summary}</p>`}
      `;
    case 'tool_calls':
      return html`
        <h3>It would call ${step.calls.length === 1 ? 'a tool' : `${step.calls.length} tools`}</h3>
        ${step.calls.map(callView)}
        ${qualified(step.qualify)}
        <p class="muted">Nothing was called. The agent would continue with the results.</p>
      `;
    case 'hand_over':
      return html`
        <h3>It would hand over to a person</h3>
        <p>${REASONS[step.reason]}</p>
        ${step.note === null ? null : html`<p class="problem">${step.note}</p>`}
        ${said(agentName, step.text)}
      `;
  }
}

const REASONS = {
  customer_request: 'The customer asked for a person.',
  missing_knowledge: 'No live tool fits, so it does not know how to help.',
  tool_failure: 'A tool failed.',
  agent_error: 'The model failed:',
} as const;

export const said = (name: string, text: string): View =>
  html`<blockquote class="said">${text}<footer>${name}</footer></blockquote>`;

const qualified = (qualify: boolean): View =>
  qualify ? html`<p>It would mark the conversation as qualified.</p>` : null;

const callView = (call: TriedCall): View => html`
  <p><strong>${call.tool}</strong>${call.needsApproval ? ', after a person approves it' : ''}, with</p>
  <pre tabindex="0" role="group" aria-label="Arguments"><code>${JSON.stringify(call.arguments, null, 2) ?? ''}</code></pre>
  ${call.problem === null ? null : html`<p class="problem">This call would fail: ${call.problem}</p>`}
`;
