import { html, type View } from '../../platform/html/html.ts';
import type { AgentSettings } from '../agentSettings.ts';
import { withGreeting } from '../webhook/operations/turnMessages.ts';
import type { TurnAnswer, WebhookTurn } from '../webhook/webhookTurn.ts';
import { said } from './triedView.ts';

/** What a workflow answered to a test, as far as it has come. */
export const triedTurnView = (turn: WebhookTurn, settings: AgentSettings): View =>
  html`<article class="tried">${stateView(turn, settings)}</article>`;

function stateView(turn: WebhookTurn, { name, greeting }: AgentSettings): View {
  const answer = turn.tried?.answer ?? null;
  const [first, ...others] = answer?.texts ?? [];
  const greeted = first === undefined ? [] : [withGreeting(first, greeting || null)];
  const texts = [...greeted, ...others].map((text) => said(name, text));
  switch (turn.status) {
    case 'queued':
      return html`
        <h3 aria-busy="true">Calling the workflow</h3>
        ${WITHOUT_SCRIPTS}
        ${turn.problem === null ? null : html`<p class="problem">The last attempt failed: ${turn.problem} It is tried again for a minute.</p>`}
      `;
    case 'running':
      return html`<h3 aria-busy="true">The workflow is working on its answer</h3>${WITHOUT_SCRIPTS}${texts}`;
    case 'suspended':
      return html`<h3>The workflow waits for a customer or a colleague</h3>${texts}`;
    case 'answered':
      return html`${texts.length === 0 ? null : html`<h3>It would reply</h3>${texts}`}${endView(answer)}`;
    case 'failed':
    case 'superseded':
      return html`
        <h3>The workflow gave no answer</h3>
        <p class="problem">${turn.problem}</p>
        <p class="muted">A customer would be told that a person takes care of it, and the conversation would wait for one.</p>
      `;
  }
}

const WITHOUT_SCRIPTS = html`<noscript><p>Reload the page to see the answer.</p></noscript>`;

/** What it would do after its messages. */
function endView(answer: TurnAnswer | null): View {
  const then = answer?.then ?? { type: 'end' };
  switch (then.type) {
    case 'hand_over':
      return html`<h3>It would hand over to a person</h3><p>${REASONS[then.reason]}</p>${then.note === null ? null : html`<p>Note for the team: ${then.note}</p>`}`;
    case 'close':
      return html`<p>It would close the conversation as <strong>${then.verdict.replaceAll('_', ' ')}</strong>: ${then.summary}</p>`;
    default:
      return (answer?.texts.length ?? 0) > 0 ? null : html`<h3>It would say nothing</h3>`;
  }
}

const REASONS = {
  customer_request: 'The customer asked for a person.',
  missing_knowledge: 'It does not know how to help.',
  tool_failure: 'A tool failed.',
  agent_error: 'It ran into an error.',
} as const;
