import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, notFound } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../workspace.ts';
import { MAX_CANNED_REPLIES, type CannedReply } from './cannedReply.ts';

type Written = Pick<CannedReply, 'name' | 'shortcut' | 'text'>;

/** The workspace's canned replies, by shortcut. */
export const listCannedReplies = async (tx: Tx, workspace: { readonly id: string }) =>
  (
    await tx.cannedReplies.find({
      where: { workspaceId: workspace.id },
      limit: MAX_CANNED_REPLIES,
    })
  ).toSorted((a, b) => (a.shortcut < b.shortcut ? -1 : 1));

/** @throws invalid_request (400) when the shortcut is taken, or there are too many */
export const createCannedReply = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  written: Written,
) =>
  store.transaction(async (tx): Promise<CannedReply> => {
    await tx.workspaces.get(workspace.id); // locks the workspace: shortcuts are unique in it
    const all = await listCannedReplies(tx, workspace);
    assertFree(all, written.shortcut);
    if (all.length >= MAX_CANNED_REPLIES)
      throw new AppError(
        'invalid_request',
        `A workspace has at most ${MAX_CANNED_REPLIES} canned replies. Remove one first.`,
      );
    const now = timestamp(clock.now());
    const reply = {
      ...written,
      id: newId('canned'),
      workspaceId: workspace.id,
      createdAt: now,
      updatedAt: now,
    };
    await tx.cannedReplies.put(reply);
    return reply;
  });

/** @throws not_found (404); invalid_request (400) when the shortcut is taken */
export const changeCannedReply = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  id: string,
  written: Written,
) =>
  store.transaction(async (tx): Promise<CannedReply> => {
    await tx.workspaces.get(workspace.id); // locks the workspace: shortcuts are unique in it
    const reply = await getCannedReply(tx, workspace, id);
    const others = (await listCannedReplies(tx, workspace)).filter((other) => other.id !== id);
    assertFree(others, written.shortcut);
    const changed = { ...reply, ...written, updatedAt: timestamp(clock.now()) };
    await tx.cannedReplies.put(changed);
    return changed;
  });

/** @throws not_found (404) */
export const removeCannedReply = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  id: string,
) =>
  store.transaction(async (tx) => {
    await getCannedReply(tx, workspace, id);
    await tx.cannedReplies.delete(id);
  });

/** @throws not_found (404), also for another workspace's */
export async function getCannedReply(
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<CannedReply> {
  const reply = await tx.cannedReplies.get(id);
  if (reply?.workspaceId !== workspace.id) throw notFound('canned reply', id);
  return reply;
}

function assertFree(taken: readonly CannedReply[], shortcut: string): void {
  const holder = taken.find((reply) => reply.shortcut === shortcut);
  if (holder)
    throw new AppError(
      'invalid_request',
      `“${holder.name}” has this shortcut. Choose another one.`,
      { param: 'shortcut' },
    );
}
