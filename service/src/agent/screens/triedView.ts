import type { TriedCall, TriedStep } from '../tryAgent.ts';
import { html, type View } from '../../platform/html/html.ts';
import type { AgentSettings } from '../agentSettings.ts';
import { withGreeting } from '../webhook/operations/turnMessages.ts';
import type { TurnAnswer, WebhookTurn } from '../webhook/webhookTurn.ts';

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
        ${
          step.close === null
            ? null
            : html`
              <p>
                Then it would close the conversation as <strong>
                  ${step.close.verdict.replaceAll('_', ' ')}
                </strong>: ${step.close.summary}
              </p>
            `
        }
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
        ${qualified(step.qualify)}
      `;
  }
}

const REASONS = {
  customer_request: 'The customer asked for a person.',
  missing_knowledge: 'No live tool fits, so it does not know how to help.',
  tool_failure: 'A tool failed.',
  agent_error: 'The model failed:',
} as const;

const said = (name: string, text: string): View =>
  html`<blockquote class="said">${text}<footer>${name}</footer></blockquote>`;

const qualified = (qualify: boolean): View =>
  qualify ? html`<p>It would mark the conversation as qualified.</p>` : null;

const callView = (call: TriedCall): View => html`
  <p>
    <strong>${call.tool}</strong>${call.needsApproval ? ', after a person approves it' : ''}, with
  </p>
  <pre tabindex="0" role="group" aria-label="Arguments">
    <code>${JSON.stringify(call.arguments, null, 2) ?? ''}</code>
  </pre>
  ${
    call.problem === null
      ? null
      : html`<p class="problem">This call would fail: ${call.problem}</p>`
  }
`;

// ---- With a workflow

/** What a workflow has answered to a test so far. */
export const triedTurnView = (turn: WebhookTurn, settings: AgentSettings): View =>
  html`<article class="tried">${turnStateView(turn, settings)}</article>`;

function turnStateView(turn: WebhookTurn, { name, greeting }: AgentSettings): View {
  const answer = turn.tried?.answer ?? null;
  const texts = (answer?.texts ?? []).map((text, index) =>
    said(name, index === 0 ? withGreeting(text, greeting || null) : text),
  );
  switch (turn.status) {
    case 'queued':
      return html`
        <h3 aria-busy="true">Calling the workflow</h3>
        ${WITHOUT_SCRIPTS}
        ${
          turn.problem === null
            ? null
            : html`
              <p class="problem">
                The last attempt failed: ${turn.problem} The service tries again for a minute.
              </p>
            `
        }
      `;
    case 'running':
      return html`
        <h3 aria-busy="true">The workflow is working on its answer</h3>
        ${WITHOUT_SCRIPTS}
        ${texts}
      `;
    case 'suspended':
      return html`<h3>The workflow waits for a customer or a colleague</h3>${texts}`;
    case 'answered':
      return html`
        ${texts.length === 0 ? null : html`<h3>It would reply</h3>${texts}`}
        ${endView(answer)}
      `;
    case 'failed':
    case 'superseded':
      return html`
        <h3>
          ${
            texts.length === 0
              ? 'The workflow gave no answer'
              : 'The workflow did not finish its answer'
          }
        </h3>
        ${texts}
        <p class="problem">${turn.problem}</p>
        <p class="muted">
          A customer would be told that a person takes care of it, and the conversation would wait for one.
        </p>
      `;
  }
}

const WITHOUT_SCRIPTS = html`<noscript><p>Reload the page to see the answer.</p></noscript>`;

/** What the workflow would do after its messages. */
function endView(answer: TurnAnswer | null): View {
  const then = answer?.then ?? { type: 'end' };
  switch (then.type) {
    case 'hand_over':
      return html`
        <h3>It would hand over to a person</h3>
        <p>${WORKFLOW_REASONS[then.reason]}</p>
        ${then.note === null ? null : html`<p>Note for the team: ${then.note}</p>`}
      `;
    case 'close':
      return html`
        <p>
          It would close the conversation as <strong>
            ${then.verdict.replaceAll('_', ' ')}
          </strong>: ${then.summary}
        </p>
      `;
    default:
      return (answer?.texts.length ?? 0) > 0 ? null : html`<h3>It would say nothing</h3>`;
  }
}

const WORKFLOW_REASONS = {
  ...REASONS,
  missing_knowledge: 'It does not know how to help.',
  agent_error: 'It ran into an error.',
} as const;
