import { randomUUID } from 'node:crypto';
import { adapterOf } from '../channels/index.ts';
import {
  MAX_SUMMARY_CHARACTERS,
  VERDICTS,
  type Conversation,
  isCustomerWaiting,
  MAX_NOTE_CHARACTERS,
  MAX_REPLY_CHARACTERS,
} from '../conversations/index.ts';
import { copyButton, csrfField, hiddenFields } from '../platform/html/components.ts';
import { formProblem, newForm, select, textArea, type FormState } from '../platform/html/forms.ts';
import { html, type View } from '../platform/html/html.ts';
import { reloadsOn } from '../platform/html/liveSection.ts';
import { exactTimeView, timeView } from '../platform/html/times.ts';
import type { CannedReply } from '../team/index.ts';
import { cannedRepliesView } from './cannedRepliesView.ts';
import type { OpenForm, ThreadParts } from './threadParts.ts';
import { holderName, VERDICT_LABELS } from './labels.ts';
import { writingView } from './presence/presenceView.ts';
import { threadHref } from './links.ts';

export interface ComposerParts extends ThreadParts, Pick<OpenForm, 'isNoting'> {
  readonly cannedReplies?: readonly CannedReply[];
}

/**
 * Two forms, of which one is shown: a reply to the customer, and a note for the team. Each keeps
 * its own text, so that a note never goes to the customer. Only the line above the forms reloads,
 * so that nobody loses what they are typing.
 */
export const composer = (parts: ComposerParts, form: FormState = newForm()): View => {
  const { id, status } = parts.thread.conversation;
  const { isNoting = false } = parts;
  return html`
    <div class="composer">
      <div class="composer-head">
        ${modeChoice(isNoting)}
        <div
          id="composer-note"
          class="live"
          data-live
          hx-get=${threadHref(id, parts.place, {}, '/composer-note')}
          hx-trigger=${reloadsOn('thread')}
        >
          ${composerNote(parts)}
        </div>
      </div>
      ${formProblem(form.problems[''])}
      ${writingView(parts.thread.present)}
      <div class="for-reply">
        ${
          status === 'closed'
            ? unsentReply(form.values.text)
            : replyForm(parts, isNoting ? newForm() : form)
        }
      </div>
      <div class="for-note">${noteForm(parts, isNoting ? form : newForm())}</div>
    </div>
  `;
};

const modeChoice = (isNoting: boolean): View => html`
  <fieldset class="modes">
    <legend class="visually-hidden">What you write</legend>
    <label for="mode-reply">
      <input
        type="radio"
        id="mode-reply"
        name="mode"
        value="reply"
        checked=${!isNoting}
        autocomplete="off"
      /> Reply
    </label>
    <label for="mode-note">
      <input
        type="radio"
        id="mode-note"
        name="mode"
        value="note"
        checked=${isNoting}
        autocomplete="off"
      /> Note
    </label>
  </fieldset>
`;

/**
 * What a reply would do now. `data-closed` hides the button on a page that was opened before
 * replies became impossible. A text that was typed there stays and can be copied.
 */
export const composerNote = ({ signedIn, thread, now }: ThreadParts): View => {
  if (thread.conversation.status === 'closed')
    return html`
      <p class="muted" data-closed>
        This conversation is closed, so you can’t send messages. When the customer writes again, a new conversation starts.
      </p>
    `;
  const obstacle = obstacleView(thread);
  if (obstacle !== null) return obstacle;
  const effect = effectOfReply(thread, signedIn.member.id);
  return html`
    ${closesSoon(thread, now)}
    ${effect === null ? null : html`<p class="muted">${effect}</p>`}
  `;
};

type Thread = ThreadParts['thread'];

/** Why nothing can be sent now. */
function obstacleView({ conversation, reach: { isConnected, window } }: Thread): View {
  const { label } = adapterOf(conversation.channel);
  if (!isConnected)
    return html`
      <p class="muted" role="note" data-closed>
        <b>You can’t send messages:</b> the ${label} account that this customer wrote to is no longer connected. Connect it again under <a href="/channels">Channels</a>.
      </p>
    `;
  if (window.isOpen) return null;
  return html`
    <p class="muted" role="note" data-closed>
      <b>${label} accepts no messages until the customer writes again.</b>${' '}
      ${
        window.closesAt === null
          ? 'They have not written yet.'
          : html`The messaging window closed ${exactTimeView(window.closesAt)}.`
      }
    </p>
  `;
}

const SOON_MS = 3 * 60 * 60 * 1000;

function closesSoon({ conversation, reach: { window } }: Thread, now: Date): View {
  const { closesAt } = window;
  if (closesAt === null || Date.parse(closesAt) - now.getTime() > SOON_MS) return null;
  const { label } = adapterOf(conversation.channel);
  return html`
    <p role="note">
      <b>
        ${label} accepts messages to this customer until ${exactTimeView(closesAt)}
      </b> (${timeView(closesAt, now)}), unless they write again.
    </p>
  `;
}

function effectOfReply(thread: Thread, memberId: string): View {
  const { conversation, takenByName, isAgentOn } = thread;
  switch (conversation.status) {
    case 'ai_active':
      return `${effectOfAgent(conversation, isAgentOn)} Your reply takes over the conversation.`;
    case 'awaiting_human':
      return 'The customer is waiting for a person. Your reply takes over the conversation.';
    default:
      if (conversation.takenBy === memberId) return null;
      return html`
        <bdi>
          ${holderName(conversation, takenByName) ?? 'A person'}
        </bdi> has this conversation. Your reply takes it over.
      `;
  }
}

function effectOfAgent(conversation: Conversation, isAgentOn: boolean): string {
  if (!isAgentOn) return 'The agent is off, so no one answers until your team does.';
  return isCustomerWaiting(conversation)
    ? 'The customer wrote while the agent was off.'
    : 'The agent is answering.';
}

const replyForm = (parts: ComposerParts, form: FormState): View => {
  const { signedIn, thread, place } = parts;
  return html`
  <form
    method="post"
    action=${threadHref(thread.conversation.id, place, {}, '/reply')}
    class="reply"
    hx-sync="this:drop"
  >
    ${csrfField(signedIn)}
    ${hiddenFields({
      once: form.values.once ?? randomUUID(),
      seen: String(thread.conversation.messageCount),
    })}
    ${textArea({
      name: 'text',
      label: 'Your reply',
      form,
      attributes: {
        required: true,
        maxlength: MAX_REPLY_CHARACTERS,
        rows: 2,
        dir: 'auto',
        placeholder: 'Write to the customer',
        'data-canned': '#canned',
      },
    })}
    <div class="row">
      <button>Send</button>
      <small class="muted keys">Ctrl+Enter to send</small>
      ${cannedRepliesView(parts)}
    </div>
  </form>
`;
};

/** A note has a form, a colour and a draft of its own. */
const noteForm = ({ signedIn, thread, place }: ThreadParts, form: FormState): View => html`
  <form
    method="post"
    action=${threadHref(thread.conversation.id, place, {}, '/note')}
    class="noting"
    hx-sync="this:drop"
  >
    ${csrfField(signedIn)}${hiddenFields({ once: form.values.once ?? randomUUID() })}
    ${textArea({
      name: 'note',
      label: 'Your note',
      form,
      attributes: {
        required: true,
        maxlength: MAX_NOTE_CHARACTERS,
        rows: 2,
        dir: 'auto',
        placeholder: 'Write to your team. The customer never sees it.',
      },
    })}
    <div class="row">
      <button>Add note</button>
      <small class="muted keys">Ctrl+Enter to add</small>
    </div>
  </form>
`;

/** A reply that came too late, to copy elsewhere. */
const unsentReply = (text: string | undefined): View =>
  text === undefined
    ? null
    : html`
        <p>Your reply:</p>
        <pre id="unsent" dir="auto">${text}</pre>
        ${copyButton('unsent', 'your reply', 'small secondary')}
      `;

/** Closes a conversation with an outcome. */
export const closeForm = (
  { signedIn, thread, place }: ThreadParts,
  form: FormState = newForm(),
): View => html`
  <div class="composer">
    <form
      method="post"
      action=${threadHref(thread.conversation.id, place, {}, '/close')}
      hx-sync="this:drop"
      aria-labelledby="close-title"
    >
      <h3 id="close-title">Close this conversation</h3>
      ${csrfField(signedIn)}
      ${select({
        name: 'verdict',
        label: 'Outcome',
        form,
        options: [
          ['', 'Choose…'],
          ...VERDICTS.map((verdict) => [verdict, VERDICT_LABELS[verdict]] as const),
        ],
        attributes: { required: true },
      })}
      ${textArea({
        name: 'summary',
        label: 'Summary',
        form,
        attributes: { required: true, maxlength: MAX_SUMMARY_CHARACTERS, rows: 3, dir: 'auto' },
      })}
      <div class="row">
        <button>Close conversation</button>
        <a
          role="button"
          class="secondary outline"
          href=${threadHref(thread.conversation.id, place)}
        >
          Cancel
        </a>
      </div>
    </form>
  </div>
`;
