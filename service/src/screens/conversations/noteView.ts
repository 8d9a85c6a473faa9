import type { Conversation } from '../../domain/conversation.ts';
import type { SystemNote } from '../../domain/systemNote.ts';
import { html, type View } from '../html.ts';
import { timeView } from '../times.ts';
import { AGENT_REASONS, STAGE_LABELS, VERDICT_LABELS, actorName } from './labels.ts';

/** What happened, in a sentence, where it happened. */
export const noteView = (note: SystemNote, conversation: Conversation, now: Date): View => html`
  <p class="note"><bdi>${sentenceOf(note)}</bdi> · ${timeView(note.createdAt, now)}</p>
  ${note.change.type === 'closed' && conversation.outcome ? html`<p class="note"><b>${VERDICT_LABELS[conversation.outcome.verdict]}.</b> <bdi class="text">${conversation.outcome.summary}</bdi></p>` : null}
`;

/** `Ana took over`. */
export function sentenceOf({ change, actor }: SystemNote): string {
  const who = actorName(actor);
  switch (change.type) {
    case 'handed_over':
      return actor.type === 'agent'
        ? handedOver(who, change)
        : change.reason === 'api_message'
          ? `${who} wrote, and so took over`
          : `${who} took over`;
    case 'handed_back':
      return `${who} handed back to the agent`;
    case 'closed':
      return `${who} closed the conversation`;
    case 'channel_note':
      return `The customer ${change.text}`;
    case 'stage_changed':
      return `${who} set the stage from ${STAGE_LABELS[change.from]} to ${STAGE_LABELS[change.to]}`;
  }
}

const handedOver = (
  who: string,
  { reason, note }: { reason: keyof typeof AGENT_REASONS; note: string | null },
) =>
  `${who} asked for a person: ${AGENT_REASONS[reason] ?? reason}${note === null ? '' : ` (${note})`}`;
