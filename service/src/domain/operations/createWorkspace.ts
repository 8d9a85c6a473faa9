import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { newId } from '../ids.ts';
import { slugFrom, type Workspace } from '../workspace.ts';

/** Makes a workspace with its agent's id. Names may repeat, the slug is made unique. */
export const createWorkspace = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, name: string) =>
  store.transaction(async (tx): Promise<Workspace> => {
    const base = slugFrom(name);
    let slug = base;
    for (let n = 2; (await tx.workspaces.find({ where: { slug }, limit: 1 })).length > 0; n++)
      slug = `${base.slice(0, 35)}-${n}`;
    const workspace = {
      id: newId('ws'),
      slug,
      name,
      agentId: newId('agent'),
      createdAt: timestamp(clock.now()),
    };
    await tx.workspaces.put(workspace);
    return workspace;
  });
