import type { Workspace } from '../../team/index.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import { newSystemNote, type SystemNote } from '../systemNote.ts';
import { loadConversation, type ConversationView } from './conversations.ts';

/**
 * Writes a note for the team, which only the thread shows: neither the customer nor the agent sees
 * it, and no event is emitted. A closed conversation takes notes too.
 * @param text 1 to MAX_NOTE_CHARACTERS characters
 * @throws not_found (404)
 */
export const writeNote = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  text: string,
  actor: Actor,
) =>
  store.transaction(async (tx): Promise<ConversationView & { note: SystemNote }> => {
    const view = await loadConversation(tx, workspace, id);
    const change = { type: 'team_note', text } as const;
    const note = newSystemNote(view.conversation, change, actor, clock.now());
    await tx.systemNotes.put(note);
    return { ...view, note };
  });
