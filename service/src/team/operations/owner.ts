import type { Tx } from '../../store/collections.ts';
import type { Member } from '../workspace.ts';

/** The setting with the id of the member who set the service up. */
const OWNER = 'owner';

/**
 * Records the first member as the owner of the service, once. If that member is removed, nobody else
 * becomes the owner.
 */
export async function recordOwner(tx: Tx): Promise<void> {
  if (await tx.settings.get(OWNER)) return;
  const first = await findFirstMember(tx);
  if (first) await tx.settings.put({ id: OWNER, value: first.id });
}

/** The owner of the service. Null when nobody has set it up, and when the owner was removed. */
export async function findOwner(tx: Tx): Promise<Member | null> {
  const recorded = await tx.settings.peek(OWNER);
  return recorded ? tx.members.peek(recorded.value) : findFirstMember(tx);
}

/** The oldest member of the oldest workspace. */
async function findFirstMember(tx: Tx): Promise<Member | null> {
  const [workspace] = await tx.workspaces.find({ where: {}, limit: 1 });
  if (!workspace) return null;
  const [member] = await tx.members.find({ where: { workspaceId: workspace.id }, limit: 1 });
  return member ?? null;
}
