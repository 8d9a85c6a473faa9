import { timestamp } from '../../platform/clock.ts';
import type { Actor } from '../../platform/actor.ts';
import { compareText } from '../../platform/compareText.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { loseMember, type Conversation } from '../conversation.ts';
import { loadConversation, putChange, type ConversationView } from './conversations.ts';

/**
 * Assigns a conversation to a member of the team, or to nobody. This says who looks after it and
 * changes nothing about who is in control: the agent goes on answering. Nothing changes when it is
 * assigned to that member already. A closed conversation can be assigned too.
 * @throws not_found (404) for the conversation, invalid_request (400) for the member
 */
export const assignConversation = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  id: string,
  memberId: string | null,
  actor: Actor,
) =>
  store.transaction(async (tx): Promise<ConversationView> => {
    // Locked, so that a removal of the member at this moment unassigns this conversation too.
    const member = memberId === null ? null : await tx.members.get(memberId);
    const view = await loadConversation(tx, workspace, id);
    if (memberId !== null && member?.workspaceId !== workspace.id)
      throw new AppError(
        'invalid_request',
        `There is no member ${memberId}. Use an id from GET /api/members, or null for nobody.`,
        { param: 'member_id' },
      );
    const former = view.conversation.assignee ?? null;
    if ((former?.id ?? null) === memberId) return view;
    const now = clock.now();
    const assignee = member && { id: member.id, name: member.name };
    const assigned = {
      ...view.conversation,
      assigneeId: memberId,
      assignee,
      updatedAt: timestamp(now),
    };
    const change = { type: 'assigned', to: assignee, from: former } as const;
    return { ...view, conversation: await putChange(tx, view, assigned, { change, actor }, now) };
  });

const BATCH = 200;

/**
 * Takes their conversations away from a member who is removed: nobody is assigned to them any more,
 * and those that the member was in control of wait for another person. Emits no event, as when one
 * person takes over from another.
 */
export async function releaseConversationsOf(
  tx: Tx,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  now: Date,
): Promise<void> {
  await changeAll(tx, { workspaceId, assigneeId: id }, (assigned) => ({
    ...assigned,
    assigneeId: null,
    assignee: null,
  }));
  await changeAll(tx, { workspaceId, takenBy: id, status: 'human_active' }, (taken) =>
    loseMember(taken, now),
  );
}

type Fields = Partial<Pick<Conversation, 'workspaceId' | 'assigneeId' | 'takenBy' | 'status'>>;

/** @param change leaves a conversation without one of the fields that it was found by */
async function changeAll(
  tx: Tx,
  where: Fields,
  change: (conversation: Conversation) => Conversation,
): Promise<void> {
  const fields = Object.entries(where) as [keyof Fields, string][];
  let found: readonly Conversation[];
  do {
    found = await tx.conversations.find({ where, orderBy: 'updatedAt', limit: BATCH });
    for (const { id } of found.toSorted((a, b) => compareText(a.id, b.id))) {
      const locked = await tx.conversations.get(id);
      if (locked && fields.every(([name, value]) => locked[name] === value))
        await tx.conversations.put(change(locked));
    }
  } while (found.length === BATCH);
}
