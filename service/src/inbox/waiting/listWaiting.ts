import { customerName, findContactOf, isForgotten } from '../../conversations/index.ts';
import { compareText } from '../../platform/compareText.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import type { Tool, ToolCall } from '../../tools/index.ts';
import { viewWait, type Wait } from '../../waits/index.ts';

/** What waits for a decision of the team. */
export type WaitingItem = (
  | { readonly type: 'wait'; readonly wait: Wait }
  | { readonly type: 'tool_call'; readonly call: ToolCall; readonly tool: Tool | null }
) & {
  readonly id: string;
  readonly createdAt: string;
  readonly conversationId: string | null;
  /** The name of the customer; null without a conversation. */
  readonly customer: string | null;
};

export interface Waiting {
  /** The longest waiting first. */
  readonly items: readonly WaitingItem[];
  /** Questions of workflows that have lately been decided or ended, newest first. */
  readonly ended: readonly Wait[];
}

/** More are not shown at once, and not counted. */
export const MAX_SHOWN = 100;
const MAX_ENDED = 10;

/** Open questions of workflows to the team, and tool calls that need an approval. */
const findWaiting = async (tx: Tx, { id: workspaceId }: Workspace) => ({
  waits: await tx.waits.find({
    where: { workspaceId, kind: 'decision', status: 'open' },
    limit: MAX_SHOWN,
  }),
  calls: await tx.toolCalls.find({
    where: { workspaceId, status: 'pending_approval' },
    limit: MAX_SHOWN,
  }),
});

/** @returns how many items wait, MAX_SHOWN at most */
export const countWaiting = ({ store }: Pick<Deps, 'store'>, workspace: Workspace) =>
  store.transaction(async (tx): Promise<number> => {
    const { waits, calls } = await findWaiting(tx, workspace);
    return Math.min(MAX_SHOWN, waits.length + calls.length);
  });

export const listWaiting = ({ store }: Pick<Deps, 'store'>, workspace: Workspace) =>
  store.transaction(async (tx): Promise<Waiting> => {
    const { waits, calls } = await findWaiting(tx, workspace);
    const found = [
      ...waits.map((wait) => ({ wait, call: null, ...wait })),
      ...calls.map((call) => ({ wait: null, call, ...call })),
    ].sort((a, b) => compareText(a.createdAt, b.createdAt));
    const items: WaitingItem[] = [];
    for (const { wait, call, id, createdAt, conversationId } of found.slice(0, MAX_SHOWN)) {
      const contact = await findContactOf(tx, conversationId);
      if (contact !== null && isForgotten(contact)) continue;
      const customer = contact && customerName(contact);
      const about = { id, createdAt, conversationId, customer };
      if (wait) items.push({ type: 'wait', wait, ...about });
      else items.push({ type: 'tool_call', call, tool: await toolOf(tx, call), ...about });
    }
    return { items, ended: await findEnded(tx, workspace) };
  });

const toolOf = async (tx: Tx, { toolId }: ToolCall): Promise<Tool | null> =>
  toolId === null ? null : tx.tools.peek(toolId);

/** Of the newest questions, those that are no longer open; none about a forgotten contact. */
async function findEnded(tx: Tx, { id: workspaceId }: Workspace): Promise<readonly Wait[]> {
  const newest = await tx.waits.find({
    where: { workspaceId, kind: 'decision' },
    direction: 'desc',
    limit: MAX_SHOWN,
  });
  const ended: Wait[] = [];
  for (const each of newest) {
    if (each.status === 'open') continue;
    const { wait } = await viewWait(tx, each);
    if (!wait.isCleared) ended.push(wait);
    if (ended.length === MAX_ENDED) break;
  }
  return ended;
}
