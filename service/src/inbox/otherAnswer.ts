import { findNewestMessages, type Message } from '../conversations/index.ts';
import type { Tx } from '../store/collections.ts';
import type { Member } from '../team/index.ts';

/** A member who replies may not have noticed an answer that is younger than this. */
const JUST_NOW_MS = 15_000;
const MAX_LOOKED_AT = 20;

/**
 * The answer that another member has just sent, if the page on which this member wrote a reply did
 * not show it; else null. The conversation stays locked: of two simultaneous replies, the second
 * finds the first.
 * @param seen how many messages there were when the page was made
 */
export async function findOtherAnswer(
  tx: Tx,
  conversationId: string,
  seen: number,
  member: Member,
  now: Date,
): Promise<Message | null> {
  await tx.members.get(member.id); // locked before the conversation, as in decision 33
  const conversation = await tx.conversations.get(conversationId);
  if (conversation?.workspaceId !== member.workspaceId || conversation.messageCount <= seen)
    return null;
  const newest = await findNewestMessages(tx, conversationId, MAX_LOOKED_AT);
  const isOther = ({ number, sender, createdAt }: Message) =>
    number > seen &&
    sender.type === 'team_member' &&
    sender.memberId !== member.id &&
    now.getTime() - Date.parse(createdAt) < JUST_NOW_MS;
  return newest.find(isOther) ?? null;
}

/** A reply was not sent, since its page did not show that a colleague has just answered. */
export class OtherAnswer extends Error {
  override readonly name = 'OtherAnswer';

  constructor(member: string) {
    super(
      `${member} has just answered: see above. Your reply was not sent. Change it, or send it again.`,
    );
  }
}
