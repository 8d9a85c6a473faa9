import { backLink } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { timeView } from '../../platform/html/times.ts';
import type { SignedIn } from '../../team/index.ts';
import type { Wait } from '../index.ts';
import { decisionCard } from './decisionCard.ts';
import { replyInWords } from './waitWords.ts';

export interface WaitPage {
  readonly signedIn: SignedIn;
  readonly wait: Wait;
  readonly now: Date;
  readonly notice?: unknown;
}

/** A workflow's question, its state, and each call that told the workflow how it ended. */
export const waitPage = (page: WaitPage): View =>
  teamPage(
    page.signedIn,
    { title: 'Question from a workflow', section: 'waiting', notice: page.notice },
    html`
      ${backLink('/waiting', 'Decisions')}
      <h1>Question from a workflow</h1>
      ${liveSection('waiting', 'wait-live', `/waits/${page.wait.id}/fragment`, waitFragment(page))}
    `,
  );

export const waitFragment = ({ signedIn, wait, now }: WaitPage): View => html`
  ${
    wait.kind === 'decision'
      ? decisionCard(wait, { signedIn, now, action: `/waits/${wait.id}/decide`, hasLink: false })
      : questionView(wait, now)
  }
  ${
    wait.conversationId === null
      ? null
      : html`<p><a href=${`/conversations/${wait.conversationId}#${wait.id}`}>Conversation</a></p>`
  }
  <section aria-labelledby="calls-title">
    <h2 id="calls-title">Calls to the workflow</h2>
    <p class="muted">
      Once the question has ended, the service calls n8n at <b class="host">
        ${wait.resumeHost}
      </b> until the execution has collected the answer, for a day at most.
    </p>
    ${attemptsView(wait, now)}
  </section>
`;

const questionView = (wait: Wait, now: Date): View => html`
  <p class="text question" dir="auto">${wait.message}</p>
  <p>
    ${
      wait.status === 'open'
        ? html`The workflow waits for the customer’s reply, until ${timeView(wait.expiresAt, now)}.`
        : replyInWords(wait, now)
    }
  </p>
`;

function attemptsView({ resume: { attempts } }: Wait, now: Date): View {
  if (attempts.length === 0) return html`<p>None yet.</p>`;
  return html`
    <div class="overflow-auto" tabindex="0" role="region" aria-label="Calls">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Answer</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          ${attempts.toReversed().map(
            ({ at, status, problem }) => html`
              <tr>
                <td>${timeView(at, now)}</td>
                <td>${status ?? 'none'}</td>
                <td><bdi>${problem ?? 'The workflow has gone on.'}</bdi></td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
