import type { Deps } from '../deps.ts';
import { pageOf, type Page, type PageRequest } from '../page.ts';
import type { ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { viewToolCall, type ToolCallView } from './loadToolCall.ts';

export type ToolCallFilter = Partial<Pick<ToolCall, 'status' | 'tool' | 'conversationId'>>;

/** The workspace's tool calls, newest first. */
export const listToolCalls = (
  { store }: Deps,
  workspace: Workspace,
  filter: ToolCallFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<ToolCallView>> => {
    const found = await pageOf(page, (query) =>
      tx.toolCalls.find({
        where: { workspaceId: workspace.id, ...filter },
        direction: 'desc',
        ...query,
      }),
    );
    const items = [];
    for (const call of found.items) items.push(await viewToolCall(tx, call));
    return { ...found, items };
  });
