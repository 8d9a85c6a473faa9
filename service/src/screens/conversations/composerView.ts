import { adapterOf } from '../../channels/registry.ts';
import { MAX_SUMMARY_CHARACTERS, VERDICTS, type Conversation } from '../../domain/conversation.ts';
import { MAX_REPLY_CHARACTERS } from '../../domain/message.ts';
import { formProblem, textArea, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { exactTime, timeView } from '../times.ts';
import type { ThreadParts } from './itemsView.ts';
import { threadHref } from './place.ts';
import { VERDICT_LABELS, actorName } from './labels.ts';

/** What was typed into a form that could not be used, and why. */
export interface Refused {
  readonly values?: FormValues;
  readonly problems?: Problems;
  readonly problem?: string;
}

/** Where one writes. Only its note is loaded again, so that nobody loses what they are typing. */
export const composer = (
  parts: ThreadParts,
  { values = {}, problems = {}, problem }: Refused = {},
): View => {
  const { id, status } = parts.thread.conversation;
  return html`
    <div class="composer">
      ${formProblem(problem)}
      <div id="composer-note" class="live" data-live hx-get=${threadHref(id, parts.place, {}, '/composer-note')} hx-trigger="sse:thread, htmx:sseOpen from:closest .inbox">${composerNote(parts)}</div>
      ${status === 'closed' ? unsent(values.text) : replyForm(parts, values, problems)}
    </div>
  `;
};

/**
 * What a reply does now. `data-closed` takes the button off a page that was opened before replies
 * ended; what was typed there stays and can be copied.
 */
export const composerNote = ({ signedIn, thread, now }: ThreadParts): View => {
  const { conversation } = thread;
  if (conversation.status === 'closed')
    return html`<p class="muted" data-closed>This conversation is closed, so nothing can be sent here. When the customer writes again, a new conversation opens.</p>`;
  const obstacle = obstacleOf(thread);
  if (obstacle !== null) return obstacle;
  const note = noteOf(thread, signedIn.member.id);
  return html`${closesSoon(thread, now)}${note === null ? null : html`<p class="muted">${note}</p>`}`;
};

/** Why nothing can be sent to the customer now. */
function obstacleOf({ conversation, reach: { isConnected, window } }: ThreadParts['thread']): View {
  const { label } = adapterOf(conversation.channel);
  if (!isConnected)
    return html`<p class="muted" role="note" data-closed><b>Nothing can be sent:</b> the ${label} account that this customer wrote to is not connected any more. Connect it again under <a href="/channels">Channels</a>.</p>`;
  if (window.isOpen) return null;
  return html`<p class="muted" role="note" data-closed><b>${label} takes no messages until the customer writes again.</b> ${window.closesAt === null ? 'They have not written yet.' : html`The window closed ${exactTime(window.closesAt)}.`}</p>`;
}

const SOON_MS = 3 * 60 * 60 * 1000;

function closesSoon({ conversation, reach: { window } }: ThreadParts['thread'], now: Date): View {
  if (window.closesAt === null || Date.parse(window.closesAt) - now.getTime() > SOON_MS)
    return null;
  return html`<p role="note"><b>${adapterOf(conversation.channel).label} takes messages to this customer until ${exactTime(window.closesAt)}</b> (${timeView(window.closesAt, now)}), unless they write again.</p>`;
}

function noteOf(
  { conversation, takenByName, isAgentOn }: ThreadParts['thread'],
  memberId: string,
): View {
  switch (conversation.status) {
    case 'ai_active':
      return `${isAgentOn ? 'The agent answers here.' : 'The agent is switched off: nobody answers here until one of you does.'} Your reply takes the conversation over.`;
    case 'awaiting_human':
      return 'The customer waits for a person. Your reply takes the conversation over.';
    default:
      if (conversation.takenBy === memberId) return null;
      return html`<bdi>${whoItIs(conversation, takenByName)}</bdi> has this conversation. ${takenByName === null ? 'Your reply makes it yours.' : 'Your reply takes it from them.'}`;
  }
}

const whoItIs = ({ handover }: Conversation, takenByName: string | null) =>
  takenByName ??
  (handover?.triggeredBy.type === 'api' ? actorName(handover.triggeredBy) : 'A person');

const replyForm = (
  { signedIn, thread, place }: ThreadParts,
  values: FormValues,
  problems: Problems,
): View => html`
  <form method="post" action=${threadHref(thread.conversation.id, place, {}, '/reply')} class="reply" hx-sync="this:drop">
    ${csrfField(signedIn)}
    ${textArea({ name: 'text', label: 'Your reply', values, problems, attributes: { required: true, maxlength: MAX_REPLY_CHARACTERS, rows: 3, dir: 'auto', placeholder: 'Write to the customer', 'data-draft': thread.conversation.id } })}
    <div class="row"><button>Send</button><small class="muted keys">Ctrl+Enter sends</small></div>
  </form>
`;

/** The text of a reply that came too late, to be kept elsewhere. */
const unsent = (text: string | undefined): View =>
  text === undefined
    ? null
    : html`<p>What you wrote:</p><pre id="unsent" dir="auto">${text}</pre><button class="small secondary" type="button" data-copy="#unsent">Copy</button>`;

/** Ends a conversation with what came of it. */
export const closeForm = (
  { signedIn, thread, place }: ThreadParts,
  { values = {}, problems = {} }: Refused = {},
): View => html`
  <div class="composer">
    <form method="post" action=${threadHref(thread.conversation.id, place, {}, '/close')} hx-sync="this:drop" aria-labelledby="close-title">
      <h3 id="close-title">Close this conversation</h3>
      ${csrfField(signedIn)}
      <label for="f-verdict">What came of it</label>
      <select id="f-verdict" name="verdict" required aria-invalid=${problems.verdict === undefined ? null : 'true'}>
        <option value="">Choose…</option>
        ${VERDICTS.map((verdict) => html`<option value=${verdict} selected=${values.verdict === verdict}>${VERDICT_LABELS[verdict]}</option>`)}
      </select>
      ${problems.verdict === undefined ? null : html`<small class="problem" role="alert">${problems.verdict}</small>`}
      ${textArea({ name: 'summary', label: 'Summary', values, problems, attributes: { required: true, maxlength: MAX_SUMMARY_CHARACTERS, rows: 3, dir: 'auto' } })}
      <div class="row"><button>Close the conversation</button><a role="button" class="secondary outline" href=${threadHref(thread.conversation.id, place)}>Cancel</a></div>
    </form>
  </div>
`;
