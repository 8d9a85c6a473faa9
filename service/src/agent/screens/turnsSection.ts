import { badge, durationInWords } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { timeView } from '../../platform/html/times.ts';
import type { RecentTurn } from '../operations/readAgent.ts';
import type { TurnOutcome, WebhookTurn } from '../webhook/webhookTurn.ts';
import type { AgentParts } from './agentParts.ts';

/** The workflow's last turns; empty while no workflow has ever been the agent. */
export const turnsSection = (parts: AgentParts): View => html`
  <section id="agent-turns">
    ${parts.turns.length === 0 && parts.webhook === null ? null : listedTurns(parts)}
  </section>
`;

const listedTurns = ({ turns, now }: AgentParts): View => html`
  <h2>The workflow’s last turns</h2>
  ${
    turns.length === 0
      ? html`
        <p class="muted">
          No turns yet. A turn begins when a customer has written and been quiet for a moment.
        </p>
      `
      : html`
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Turn</th>
                <th scope="col">Began</th>
                <th scope="col">Outcome</th>
                <th scope="col">Took</th>
              </tr>
            </thead>
            <tbody>${turns.map((recent) => turnRow(recent, now))}</tbody>
          </table>
        </div>
      `
  }
`;

const turnRow = ({ turn, customer }: RecentTurn, now: Date): View => html`
  <tr>
    <th scope="row">${aboutWhat(turn, customer)}</th>
    <td>${timeView(turn.createdAt, now)}</td>
    <td>
      ${outcomeBadge(turn)}
      ${
        turn.problem === null
          ? null
          : html`
            <small class=${turn.status === 'failed' ? 'problem' : 'muted'}>
              <bdi>${turn.problem}</bdi>
            </small>
          `
      }
    </td>
    <td>${tookInWords(turn)}</td>
  </tr>
`;

function aboutWhat({ id, isTest, conversationId }: WebhookTurn, customer: string | null): View {
  if (isTest) return html`<a href=${`/agent?turn=${id}#try`}>Try it</a>`;
  return customer === null
    ? html`<span class="muted">Removed conversation</span>`
    : html`<a href=${`/conversations/${conversationId}`}><bdi>${customer}</bdi></a>`;
}

const OUTCOMES: Readonly<Record<TurnOutcome, string>> = {
  reply: 'replied',
  hand_over: 'handed over',
  close: 'closed',
  nothing: 'said nothing',
};

function outcomeBadge({ status, outcome, attempts }: WebhookTurn): View {
  switch (status) {
    case 'queued':
      return badge(attempts === 0 ? 'waiting to be sent' : 'waiting to be sent again');
    case 'running':
      return badge('running');
    case 'suspended':
      return badge('waiting for an answer');
    case 'answered':
      return badge(OUTCOMES[outcome ?? 'nothing'], 'good');
    case 'superseded':
      return badge('superseded');
    case 'failed':
      return badge('failed', 'bad');
  }
}

const tookInWords = ({ startedAt, endedAt }: WebhookTurn): string =>
  startedAt === null || endedAt === null
    ? '–'
    : durationInWords(Date.parse(endedAt) - Date.parse(startedAt));
