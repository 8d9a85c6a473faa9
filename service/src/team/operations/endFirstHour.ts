import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../workspace.ts';

/** Ends the checklist of the first hour, which is then never shown again. */
export const endFirstHour = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id }: { readonly id: string },
) =>
  store.transaction(async (tx) => {
    const workspace: Workspace | null = await tx.workspaces.get(id);
    if (!workspace || workspace.firstHourEndedAt) return;
    await tx.workspaces.put({ ...workspace, firstHourEndedAt: timestamp(clock.now()) });
  });
