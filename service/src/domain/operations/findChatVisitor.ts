import { hashToken } from '../../security/tokens.ts';
import type { Contact } from '../contact.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';

/** Who a chat token belongs to; null when it was never given out. */
export const findChatVisitor = ({ store }: Pick<Deps, 'store'>, token: string) =>
  store.transaction(async (tx): Promise<{ workspace: Workspace; contact: Contact } | null> => {
    const session = await tx.chatSessions.peek(hashToken(token));
    if (!session) return null;
    const [workspace, contact] = await Promise.all([
      tx.workspaces.peek(session.workspaceId),
      tx.contacts.peek(session.contactId),
    ]);
    return workspace && contact ? { workspace, contact } : null;
  });
