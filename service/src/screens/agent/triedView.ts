import type { TriedCall, TriedStep } from '../../agent/tryAgent.ts';
import { html, type View } from '../html.ts';

/** What the agent would do, in words. */
export const triedView = (step: TriedStep, agentName: string): View =>
  html`<article class="tried">${inWords(step, agentName)}</article>`;

function inWords(step: TriedStep, agentName: string): View {
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
        <p class="muted">Nothing was called. With the result it would go on.</p>
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
  customer_request: 'The customer asks for a person.',
  missing_knowledge: 'It does not know how to help with that: no live tool fits.',
  tool_failure: 'A tool failed before.',
  agent_error: 'The model failed:',
} as const;

const said = (name: string, text: string): View =>
  html`<blockquote class="said">${text}<footer>${name}</footer></blockquote>`;

const qualified = (qualify: boolean): View =>
  qualify ? html`<p>It would mark the conversation as qualified.</p>` : null;

const callView = (call: TriedCall): View => html`
  <p><strong>${call.tool}</strong>${call.asksFirst ? ', once a person of the team has approved it' : ''}, with</p>
  <pre tabindex="0" role="group" aria-label="Arguments"><code>${JSON.stringify(call.arguments, null, 2) ?? ''}</code></pre>
  ${call.problem === null ? null : html`<p class="problem">It would not be made: ${call.problem}</p>`}
`;
