import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { pageOf, type Page, type PageRequest } from '../page.ts';
import type { Workspace } from '../workspace.ts';
import { withContacts, type ConversationView } from './loadConversation.ts';

export type ConversationFilter = Partial<Pick<Conversation, 'status' | 'channel' | 'funnelStage'>>;

/** The workspace's conversations, newest first. */
export const listConversations = (
  { store }: Deps,
  workspace: Workspace,
  filter: ConversationFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<ConversationView>> => {
    const found = await pageOf(page, (query) =>
      tx.conversations.find({
        where: { workspaceId: workspace.id, ...filter },
        direction: 'desc',
        ...query,
      }),
    );
    const items = (await withContacts(tx, found.items)).map(([conversation, contact]) => ({
      workspace,
      conversation,
      contact,
    }));
    return { ...found, items };
  });
