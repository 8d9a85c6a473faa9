import { adapterOf } from '../channels/index.ts';
import {
  actorName,
  type ContactReveal,
  type Conversation,
  FUNNEL_STAGES,
  STAGE_LABELS,
  type SystemNote,
} from '../conversations/index.ts';
import type { Payment } from '../payments/index.ts';
import { amountOf, paymentBadge } from '../payments/screens/paymentView.ts';
import { breakable } from '../platform/html/breakable.ts';
import { csrfField } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { reloadsOn } from '../platform/html/liveSection.ts';
import { timeView } from '../platform/html/times.ts';
import type { ToolCall } from '../tools/index.ts';
import { callBadge } from '../tools/screens/callBadge.ts';
import { assignForms } from './assignForms.ts';
import { STATUS_LABELS, VERDICT_LABELS } from './labels.ts';
import { threadHref } from './links.ts';
import { beginningOf } from './messageWords.ts';
import { MAX_LISTED } from './readContactPanel.ts';
import type { PanelParts } from './threadParts.ts';
import { callName } from './toolCallView.ts';

/** What is known about the customer: beside the thread, or below its head on narrow screens. */
export const contactPanel = (parts: PanelParts): View => {
  const { id } = parts.panel.conversation;
  return html`
    <aside class="contact-pane" aria-label="Contact">
      <details class="contact" id="contact">
        <summary id="contact-summary">Contact and history</summary>
        <div
          id="contact-panel"
          class="live"
          data-live
          hx-get=${threadHref(id, parts.place, {}, '/panel')}
          hx-trigger=${reloadsOn('thread')}
        >
          ${panelFragment(parts)}
        </div>
      </details>
    </aside>
  `;
};

export const panelFragment = (parts: PanelParts): View => {
  const { panel, now } = parts;
  return html`
    ${factsView(parts)}
    <p>
      <a id="edit-contact" href=${threadHref(panel.conversation.id, parts.place, {}, '/contact')}>
        Edit or forget this contact
      </a>
    </p>
    ${assignForms(parts)} ${stageForm(parts)}
    ${listView('Other conversations', panel.otherConversations, (each) =>
      conversationLink(each, parts),
    )}
    ${listView('Payments', panel.payments, (each) => paymentLink(each, parts))}
    ${listView('Tool calls', panel.calls, (each) => callLink(each, parts))}
    ${listView('Notes', panel.teamNotes, (each) => noteLink(each, parts, now))}
  `;
};

function factsView({ panel, now }: PanelParts): View {
  const { contact, conversation, reach, lastReveal } = panel;
  const { outcome } = conversation;
  const fact = (name: string, value: View) =>
    value === null ? null : html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const account = reach.accountName === null ? null : html`, <bdi>${reach.accountName}</bdi>`;
  return html`
    <dl class="contact-facts">
      ${fact('Name', contact.name === null ? null : html`<bdi>${contact.name}</bdi>`)}
      ${fact('Phone', contact.phone === null ? null : `+${contact.phone}`)}
      ${fact('Email', contact.email === null ? null : html`<bdi>${breakable(contact.email)}</bdi>`)}
      ${fact('Channel', html`${adapterOf(conversation.channel).label}${account}`)}
      ${fact('First seen', timeView(contact.createdAt, now))}
      ${fact('Started', timeView(conversation.createdAt, now))}
      ${fact('Outcome', outcome === null ? null : VERDICT_LABELS[outcome.verdict])}
      ${fact('Details read by', lastReveal === null ? null : revealView(lastReveal, now))}
    </dl>
  `;
}

/** @see docs/decisions/0038-contact-details-in-the-clear.md */
const revealView = ({ apiKeyId, apiKeyName, createdAt }: ContactReveal, now: Date): View => html`
  <a id="reveals" href=${`/keys/${apiKeyId}/reveals`}>
    <bdi>${apiKeyName}</bdi> (API)
  </a> ${timeView(createdAt, now)}
`;

const stageForm = ({ signedIn, panel: { conversation }, place }: PanelParts): View => html`
  <form
    method="post"
    action=${threadHref(conversation.id, place, {}, '/stage')}
    class="choosing"
    hx-sync="this:drop"
  >
    ${csrfField(signedIn)}
    <label for="stage">Stage</label>
    <select id="stage" name="stage">
      ${FUNNEL_STAGES.map(
        (stage) => html`
          <option value=${stage} selected=${stage === conversation.funnelStage}>
            ${STAGE_LABELS[stage]}
          </option>
        `,
      )}
    </select>
    <button id="do-stage" class="secondary outline" aria-label="Set the stage">Set</button>
  </form>
`;

/** Shows nothing for an empty list. */
const listView = <Item>(title: string, items: readonly Item[], view: (item: Item) => View): View =>
  items.length === 0
    ? null
    : html`
        <section class="contact-part">
          <h3>${title}</h3>
          <ul class="bare">${items.map((item) => html`<li>${view(item)}</li>`)}</ul>
          ${items.length < MAX_LISTED ? null : html`<p class="muted">The newest ${MAX_LISTED}.</p>`}
        </section>
      `;

const conversationLink = (
  { id, status, outcome, createdAt }: Conversation,
  { place, now }: PanelParts,
): View => html`
  <a id=${`other-${id}`} href=${threadHref(id, place)}>Started ${timeView(createdAt, now)}</a>
  <span class="muted">
    ${outcome === null ? STATUS_LABELS[status] : VERDICT_LABELS[outcome.verdict]}
  </span>
`;

const paymentLink = (payment: Payment, parts: PanelParts): View => html`
  <a id=${`to-${payment.id}`} href=${hrefInThread(payment, parts)}>
    ${amountOf(payment)}, <bdi>${payment.description}</bdi>
  </a>
  ${paymentBadge(payment)}
`;

const callLink = (call: ToolCall, parts: PanelParts): View => html`
  <a id=${`to-${call.id}`} href=${hrefInThread(call, parts)}>${callName(call)}</a>
  ${callBadge(call)}
`;

const MAX_NOTE_EXCERPT = 140;

const noteLink = (note: SystemNote, parts: PanelParts, now: Date): View => {
  const text = note.change.type === 'team_note' ? note.change.text : '';
  return html`
    <a id=${`to-${note.id}`} href=${hrefInThread(note, parts)}>
      <bdi>${beginningOf(text, MAX_NOTE_EXCERPT)}</bdi>
    </a>
    <span class="muted"><bdi>${actorName(note.actor)}</bdi>, ${timeView(note.createdAt, now)}</span>
  `;
};

/** How many messages the page shows after the item that is linked to. */
const MESSAGES_AFTER = 25;

/** Leads to an item, on the page of the thread that has it. */
function hrefInThread(
  { id, afterMessage }: { readonly id: string; readonly afterMessage: number },
  { panel: { conversation }, place }: PanelParts,
): string {
  const before = afterMessage + MESSAGES_AFTER;
  const isOnNewest = before > conversation.messageCount;
  return `${threadHref(conversation.id, place, { before: isOnNewest ? null : before })}#${id}`;
}
