import { adapterOf } from '../../channels/registry.ts';
import { FUNNEL_STAGES, type Conversation } from '../../domain/conversation.ts';
import { csrfField, postButton } from '../components.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';
import type { ThreadParts } from './thread.ts';
import { threadHref } from './place.ts';
import { STAGE_LABELS, VERDICT_LABELS, actorName, customerName, holderBadge } from './labels.ts';

/** The customer, the state of the conversation, and its actions. */
export const headFragment = (parts: ThreadParts): View => {
  const { thread, place, now } = parts;
  const { conversation, contact, takenByName } = thread;
  return html`
    <div class="head-title">
      <h2 dir="auto" title=${customerName(contact)}>${customerName(contact)}</h2>
      ${holderBadge(conversation, takenByName)}
    </div>
    <p class="muted facts">
      ${contact.phone === null || contact.name === null ? null : html`<span>+${contact.phone}</span>`}
      ${contact.email === null ? null : html`<span><bdi>${contact.email}</bdi></span>`}
      <span>${adapterOf(conversation.channel).label}${thread.reach.accountName === null ? null : html`, <bdi>${thread.reach.accountName}</bdi>`}</span>
      <span>started ${timeView(conversation.createdAt, now)}</span>
      ${thread.previousConversationId === null ? null : html`<a id="previous" href=${threadHref(thread.previousConversationId, place)}>Earlier conversation</a>`}
      ${thread.newerConversationId === null ? null : html`<a id="newer" href=${threadHref(thread.newerConversationId, place)}>Newer conversation</a>`}
    </p>
    <div class="row actions">${controlForms(parts)} ${stageForm(parts)}</div>
    ${conversation.outcome === null ? null : html`<p class="outcome"><b>${VERDICT_LABELS[conversation.outcome.verdict]}</b>, closed by <bdi>${actorName(conversation.outcome.closedBy)}</bdi> ${timeView(conversation.outcome.closedAt, now)}</p>`}
  `;
};

const isMine = ({ status, takenBy }: Conversation, memberId: string) =>
  status === 'human_active' && takenBy === memberId;

function controlForms({ signedIn, thread, place }: ThreadParts): View {
  const { conversation, takenByName } = thread;
  if (conversation.status === 'closed') return null;
  const control = (verb: string, label: string, style: string) =>
    postButton(signedIn, {
      action: threadHref(conversation.id, place, {}, `/${verb}`),
      label,
      button: { id: `do-${verb}`, class: `small ${style}`.trim() },
      form: { 'hx-sync': 'this:drop' },
    });
  return html`
    ${isMine(conversation, signedIn.member.id) ? null : control('take-over', takenByName === null ? 'Take over' : `Take over from ${takenByName}`, '')}
    ${conversation.status === 'ai_active' ? null : control('hand-back', 'Hand back to the agent', 'secondary outline')}
    <a id="do-payment" role="button" class="small secondary outline" href=${threadHref(conversation.id, place, {}, '/payment-link')}>Payment link…</a>
    <a id="do-close" role="button" class="small secondary outline" href=${threadHref(conversation.id, place, {}, '/close')}>Close…</a>
  `;
}

const stageForm = ({ signedIn, thread: { conversation }, place }: ThreadParts): View => html`
  <form method="post" action=${threadHref(conversation.id, place, {}, '/stage')} class="stage" hx-sync="this:drop">
    ${csrfField(signedIn)}
    <label for="stage">Stage</label>
    <select id="stage" name="stage">
      ${FUNNEL_STAGES.map((stage) => html`<option value=${stage} selected=${stage === conversation.funnelStage}>${STAGE_LABELS[stage]}</option>`)}
    </select>
    <button id="do-stage" class="small secondary outline" aria-label="Set the stage">Set</button>
  </form>
`;
