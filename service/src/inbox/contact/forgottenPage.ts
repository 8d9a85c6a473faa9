import { type Forgetting, REMOVED_KINDS, type RemovedKind } from '../../conversations/index.ts';
import { backLink } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import { timeView } from '../../platform/html/times.ts';
import type { SignedIn } from '../../team/index.ts';
import { counted } from './contactPage.ts';

const NAMES: Readonly<Record<RemovedKind, readonly [one: string, many?: string]>> = {
  conversations: ['conversation'],
  messages: ['message'],
  notes: ['note or change in the threads', 'notes and changes in the threads'],
  toolCalls: ['tool call'],
  questions: ['question of a workflow', 'questions of workflows'],
  agentTurns: ['turn of the agent', 'turns of the agent'],
  outboundTexts: ['text to the channel', 'texts to the channel'],
  chatSessions: ['session in the web chat', 'sessions in the web chat'],
  reveals: ['record of who read the details', 'records of who read the details'],
  events: ['event'],
  deliveries: ['delivery', 'deliveries'],
  clearedPayments: ['payment'],
};

export interface ForgottenPage {
  readonly contactId: string;
  readonly forgetting: Forgetting;
  readonly now: Date;
}

/** What was removed of a forgotten contact. */
export const forgottenPage = (signedIn: SignedIn, page: ForgottenPage): View =>
  teamPage(
    signedIn,
    { title: 'Forgotten contact', section: 'conversations' },
    html`
      ${backLink('/conversations', 'Conversations')}
      <h1>Forgotten contact</h1>
      ${liveSection('conversations', 'forgotten', `/contacts/${page.contactId}/forgotten/list`, forgottenFragment(page))}
    `,
  );

export function forgottenFragment({ forgetting, now }: ForgottenPage): View {
  const { at, by, finishedAt, removed } = forgetting;
  const gone = REMOVED_KINDS.filter((kind) => kind !== 'clearedPayments' && removed[kind]);
  const { clearedPayments = 0 } = removed;
  return html`
    <p role="status">
      ${
        finishedAt === null
          ? 'The details are gone, and the rest is being removed. You may leave this page.'
          : 'Everything personal was removed.'
      }${' '}
      <span class="muted">Asked for by <bdi>${by.name}</bdi>, ${timeView(at, now)}.</span>
    </p>
    <h2>Removed</h2>
    <ul id="removed">
      <li>Name, phone number and email</li>
      ${gone.map((kind) => html`<li>${counted(removed[kind]!, ...NAMES[kind])}</li>`)}
    </ul>
    <h2>Kept</h2>
    <p>
      ${
        clearedPayments === 0
          ? 'No payments. '
          : `${counted(clearedPayments, ...NAMES.clearedPayments)} with amount, status, times and reference, without name or description. `
      }The figures of the overview.
    </p>
  `;
}
